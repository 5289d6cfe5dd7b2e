// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>

#include "model/compute.hpp"

namespace payoff {

Seconds forward_time(std::span<const Operator> operators, double samples,
                     const ComputeContext& context) {
  return price_forward(operators, samples, context).time;
}

Seconds backward_time(std::span<const Operator> operators, double samples,
                      const ComputeContext& context) {
  return price_backward(operators, samples, context).time;
}

Seconds forward_time(const Operator& op, double samples, const ComputeContext& context) {
  return forward_time(std::span(&op, 1), samples, context);
}

Seconds backward_time(const Operator& op, double samples, const ComputeContext& context) {
  return backward_time(std::span(&op, 1), samples, context);
}

Flops forward_flops(const Operator& op) {
  if (op.kind == OperatorKind::memory) {
    return {};
  }
  const double products = op.kind == OperatorKind::attention ? 2 : 1;
  return {2 * products * op.rows_per_sample * op.columns * op.depth * op.batch_per_sample};
}

Seconds streaming_time(Bytes traffic, const Gpu& gpu) {
  return traffic / reached_bandwidth(gpu) + gpu.law.launch;
}

double memory_share(Bytes traffic, Seconds time, const Gpu& gpu) {
  const Bandwidth reached = reached_bandwidth(gpu);
  return time > 0_s && reached > Bandwidth{} ? std::min(1.0, traffic / (reached * time)) : 0.0;
}

Seconds optimizer_time(std::int64_t parameters, const Training& training,
                       const ComputeContext& context) {
  const Bytes traffic = static_cast<double>(parameters) * training.optimizer_traffic_per_parameter;
  return streaming_time(traffic, context.gpu);
}

}  // namespace payoff
