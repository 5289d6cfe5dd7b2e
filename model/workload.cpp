// SPDX-License-Identifier: Apache-2.0
#include "model/workload.hpp"

namespace payoff {

std::int64_t Workload::parameters() const {
  std::int64_t sum = 0;
  for (const Layer& layer : layers) {
    for (const ParameterTensor& tensor : layer.parameters) {
      sum += tensor.is_copy ? 0 : tensor.elements();
    }
  }
  return sum;
}

}  // namespace payoff
