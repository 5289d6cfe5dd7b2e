// SPDX-License-Identifier: Apache-2.0
#include "model/reference_bian2024.hpp"

#include <algorithm>

namespace payoff {

Seconds ActivationSum::time(Bytes size) const {
  return size > 0_B ? std::max(shortest, per_byte * size) : 0_s;
}

Flops bian2024_flops(double batch, double sequence, double hidden) {
  return batch * sequence * hidden * (96 * hidden + 16 * sequence) * 1_flop;
}

double bian2024_speedup(const EncodedLayer& layer, const ActivationSum& sum) {
  return (layer.compute + sum.time(layer.dense)) /
         (layer.compute + sum.time(layer.encoded) + layer.overhead);
}

}  // namespace payoff
