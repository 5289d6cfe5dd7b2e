// SPDX-License-Identifier: Apache-2.0
#include "model/workload.hpp"

namespace payoff {

Operator memory_pass(Bytes forward, Bytes backward, int kernels, int fused_kernels) {
  Operator op{.kind = OperatorKind::memory};
  op.bytes_per_sample = forward;
  op.backward_bytes_per_sample = backward;
  op.kernels = kernels;
  op.fused_kernels = fused_kernels;
  return op;
}

Operator uncast_pass(Bytes forward, Bytes backward, int kernels, int fused_kernels) {
  Operator op = memory_pass(forward, backward, kernels, fused_kernels);
  op.casts = false;
  return op;
}

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
