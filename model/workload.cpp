// SPDX-License-Identifier: Apache-2.0
#include "model/workload.hpp"

namespace payoff {

std::int64_t Workload::parameters() const {
  std::int64_t sum = 0;
  for (const Layer& layer : layers) {
    for (const ParameterTensor& tensor : layer.parameters) {
      sum += tensor.elements();
    }
  }
  return sum;
}

}  // namespace payoff
