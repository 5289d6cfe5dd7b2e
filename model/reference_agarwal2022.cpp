// SPDX-License-Identifier: Apache-2.0
#include "model/reference_agarwal2022.hpp"

#include <algorithm>

namespace payoff {

Seconds RingNetwork::all_reduce(Bytes size) const {
  const double others = workers - 1;
  return 2 * others * latency + 2 * others / workers * size / bandwidth;
}

Seconds RingNetwork::all_gather(Bytes contribution) const {
  const double others = workers - 1;
  return others * latency + others * contribution / bandwidth;
}

Seconds agarwal2022_dense(Seconds backward, const BucketedReduction& reduction,
                          const RingNetwork& network) {
  if (reduction.buckets == 0 || network.workers == 1) {
    return backward;
  }
  const auto overlapped = static_cast<double>(reduction.buckets - 1);
  return std::max(reduction.slowdown * backward,
                  overlapped * network.all_reduce(reduction.bucket)) +
         network.all_reduce(reduction.last_bucket);
}

Seconds agarwal2022_compressed(Seconds backward, Seconds encode_and_decode,
                               std::span<const CompressedRound> rounds,
                               const RingNetwork& network) {
  Seconds total = backward + encode_and_decode;
  for (const CompressedRound& round : rounds) {
    total += round.gathers ? network.all_gather(round.size) : network.all_reduce(round.size);
  }
  return total;
}

}  // namespace payoff
