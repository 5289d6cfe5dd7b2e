// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "model/compression.hpp"
#include "model/compute.hpp"
#include "model/experiment.hpp"
#include "model/hardware.hpp"
#include "model/workload.hpp"

// How much work the kernels of a step have, each kind from its smallest to its largest: what
// `payoff calibrate fit` writes as the range of a law, and what a prediction is compared with to
// say where it extrapolates. Kinds are those that the laws have an efficiency for
// (docs/model.md, "Compute" and "Codecs"): a product counts by its arithmetic, 2 r d c, the score
// products of unfused attention too; everything that streams by its traffic.

namespace payoff {

[[nodiscard]] KernelAmounts forward_kernels(std::span<const Operator> operators, double samples,
                                            const ComputeContext& context);
[[nodiscard]] KernelAmounts backward_kernels(std::span<const Operator> operators, double samples,
                                             const ComputeContext& context);

void include(KernelAmounts& amounts, const KernelAmounts& more);

// Of one rank, all stages together.
struct StepKernels {
  KernelAmounts forward;
  KernelAmounts recompute;  // of forward, run again
  KernelAmounts backward;
  FitRange<Bytes> optimizer;
  FitRange<Bytes> bucket_copies;
};
[[nodiscard]] StepKernels step_kernels(const PreparedExperiment& prepared);
// What of it is the layers', and what is the optimizer's and the buckets' of a plan.
[[nodiscard]] StepKernels layer_kernels(const PreparedExperiment& prepared);
void include_buckets(const StepPlan& plan, const PreparedExperiment& prepared,
                     StepKernels& kernels);

// Of encoding or decoding.
struct CodecKernels {
  FitRange<Bytes> streams;
  FitRange<Bytes> gathers;  // 32 B sectors
  FitRange<Flops> products;
  FitRange<Bytes> copies;  // to the host's memory or back
};
void include(CodecKernels& kernels, const PassCost& pass);

}  // namespace payoff
