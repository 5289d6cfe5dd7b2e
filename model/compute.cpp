// SPDX-License-Identifier: Apache-2.0
#include "model/compute.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/operator_pricer.hpp"
#include "model/operator_time.hpp"

namespace payoff {
namespace {

// Kernels that wait for their own launches, and kernels whose launches queue ahead: the share
// `hides_launch` of the work behaves like the second.
class LaunchQueue {
 public:
  explicit LaunchQueue(const Software& software) : software_(software) {}

  void add(const OperatorCost& cost) {
    const Seconds host = cost.kernels * software_.host_per_kernel;
    gpu_ += cost.gpu;
    host_ += host;
    each_ += cost.gpu + host;
    streaming_ += cost.streaming;
  }
  Seconds time() const {
    const double hidden = software_.hides_launch;
    return hidden * std::max(gpu_, host_) + (1 - hidden) * each_;
  }
  Seconds gpu() const { return gpu_; }
  ComputePrice price() const {
    const Seconds all = time();
    return {all, all > 0_s ? streaming_ / all : 0.0};
  }

 private:
  const Software& software_;
  Seconds gpu_;
  Seconds host_;
  Seconds each_;
  Seconds streaming_;
};

constexpr PerPrecision<std::string_view> precision_names{{{"fp32", "tf32", "fp16", "bf16", "fp8"}}};

}  // namespace

Problems check_precision(const Gpu& gpu, Precision precision) {
  const auto available = [&](Precision p) { return gpu.peak[p] > FlopRate{}; };
  // fp8 training keeps attention in bf16.
  if (available(precision) && (precision != Precision::fp8 || available(Precision::bf16))) {
    return {};
  }
  std::string others;
  for (std::size_t i = 0; i < precision_count; ++i) {
    if (available(static_cast<Precision>(i)) && static_cast<Precision>(i) != precision) {
      others += (others.empty() ? "" : ", ") + std::string(precision_names.values[i]);
    }
  }
  return {{"training.precision",
           gpu.name + " has no arithmetic units for " + std::string(precision_names[precision]),
           others.empty() ? "" : "it has " + others}};
}

ComputePrice price_forward(std::span<const Operator> operators, double samples,
                           const ComputeContext& context, KernelMix* mix) {
  const OperatorPricer pricer(context, nullptr, mix);
  LaunchQueue queue(context.software);
  for (const Operator& op : operators) {
    queue.add(pricer.forward(op, samples));
  }
  if (mix != nullptr) {
    mix->all += queue.gpu();
  }
  return queue.price();
}

ComputePrice price_backward(std::span<const Operator> operators, double samples,
                            const ComputeContext& context, BackwardPart part, KernelMix* mix) {
  const OperatorPricer pricer(context, nullptr, mix);
  LaunchQueue queue(context.software);
  for (const Operator& op : operators) {
    queue.add(pricer.backward(op, samples, part));
  }
  if (mix != nullptr) {
    mix->all += queue.gpu();
  }
  return queue.price();
}

OperatorTime forward_operator(const Operator& op, double samples, const ComputeContext& context) {
  OperatorTime result;
  const OperatorCost cost = OperatorPricer(context, &result.parts).forward(op, samples);
  result.gpu = cost.gpu;
  result.kernels = cost.kernels;
  return result;
}

OperatorTime backward_operator(const Operator& op, double samples, const ComputeContext& context,
                               BackwardPart part) {
  OperatorTime result;
  const OperatorCost cost = OperatorPricer(context, &result.parts).backward(op, samples, part);
  result.gpu = cost.gpu;
  result.kernels = cost.kernels;
  return result;
}

}  // namespace payoff
