// SPDX-License-Identifier: Apache-2.0
#include "model/kernel_amounts.hpp"

#include <algorithm>

#include "model/recomputation.hpp"

namespace payoff {
namespace {

void include_stream(Bytes traffic, int kernels, KernelAmounts& amounts) {
  if (traffic > 0_B && kernels > 0) {
    amounts.streams.include(traffic / kernels);
  }
}

// Scores in memory: products that write or read them, and passes over them.
void include_attention(const Operator& op, double samples, const ComputeContext& context,
                       KernelAmounts& amounts) {
  const Precision precision = attention_precision(context.precision);
  if (context.software.fused_attention) {
    amounts.attention.include(samples * forward_flops(op));
    return;
  }
  amounts.products[precision].include(0.5 * samples * forward_flops(op));
  const double scores = samples * op.batch_per_sample * op.rows_per_sample * op.columns;
  include_stream(2 * scores * element_size(precision), 1, amounts);  // read and written
}

// The products of backward have the arithmetic of forward, in other shapes.
void include_operator(const Operator& op, double samples, Bytes traffic,
                      const ComputeContext& context, KernelAmounts& amounts) {
  switch (op.kind) {
    case OperatorKind::gemm:
      amounts.products[product_precision(op, context.precision)].include(samples *
                                                                         forward_flops(op));
      break;
    case OperatorKind::convolution:
      amounts.convolutions.include(samples * forward_flops(op));
      break;
    case OperatorKind::attention:
      include_attention(op, samples, context, amounts);
      break;
    case OperatorKind::memory:
      include_stream(traffic, context.software.fused_elementwise ? op.fused_kernels : op.kernels,
                     amounts);
      break;
  }
}

FitRange<Bytes> optimizer_streams(const StepPlan& plan, const PreparedExperiment& prepared) {
  const ParallelLayout& layout = plan.layout;
  FitRange<Bytes> streams;
  for (const StagePlan& stage : plan.stages) {
    const std::int64_t experts = stage.compute->expert_parameters;
    const auto part = [](std::int64_t all, int ranks) { return (all + ranks - 1) / ranks; };
    const std::int64_t updated = part(stage.compute->parameters - experts, layout.shard_ranks()) +
                                 part(experts, layout.expert_shards());
    streams.include(static_cast<double>(updated) *
                    prepared.experiment().training.optimizer_traffic_per_parameter);
  }
  return streams;
}

FitRange<Bytes> bucket_streams(const StepPlan& plan, const PreparedExperiment& prepared) {
  const Experiment& experiment = prepared.experiment();
  FitRange<Bytes> streams;
  for (const BucketKind& kind : plan.kinds) {
    const Bytes traffic = experiment.software.bucket_copy_passes *
                          static_cast<double>(kind.elements) *
                          element_size(experiment.training.gradient);
    if (traffic > 0_B) {
      streams.include(traffic);
    }
  }
  return streams;
}

}  // namespace

KernelAmounts forward_kernels(std::span<const Operator> operators, double samples,
                              const ComputeContext& context) {
  KernelAmounts amounts;
  for (const Operator& op : operators) {
    include_operator(op, samples, op.bytes_per_sample * samples + op.bytes_fixed, context, amounts);
  }
  return amounts;
}

KernelAmounts backward_kernels(std::span<const Operator> operators, double samples,
                               const ComputeContext& context) {
  KernelAmounts amounts;
  for (const Operator& op : operators) {
    const Bytes traffic = op.backward_bytes_per_sample * samples + op.backward_bytes_fixed;
    include_operator(op, samples, traffic, context, amounts);
  }
  return amounts;
}

void include(KernelAmounts& amounts, const KernelAmounts& more) {
  for (std::size_t i = 0; i < precision_count; ++i) {
    amounts.products.values[i].include(more.products.values[i]);
  }
  amounts.convolutions.include(more.convolutions);
  amounts.attention.include(more.attention);
  amounts.streams.include(more.streams);
}

StepKernels layer_kernels(const PreparedExperiment& prepared) {
  const Experiment& experiment = prepared.experiment();
  const ComputeContext context{experiment.cluster.gpu, experiment.software,
                               experiment.training.precision};
  const double samples = experiment.layout.micro_batch;
  StepKernels kernels;
  for (const Layer& layer : prepared.workload().layers) {
    include(kernels.forward, forward_kernels(layer.forward, samples, context));
    include(kernels.recompute,
            forward_kernels(computed_again(layer, experiment.layout.recompute, experiment.software),
                            samples, context));
    include(kernels.backward, backward_kernels(layer.forward, samples, context));
  }
  return kernels;
}

void include_buckets(const StepPlan& plan, const PreparedExperiment& prepared,
                     StepKernels& kernels) {
  kernels.optimizer = optimizer_streams(plan, prepared);
  kernels.bucket_copies = bucket_streams(plan, prepared);
}

StepKernels step_kernels(const PreparedExperiment& prepared) {
  StepKernels kernels = layer_kernels(prepared);
  include_buckets(prepared.plan(CompressionPlan{}), prepared, kernels);
  return kernels;
}

void include(CodecKernels& kernels, const PassCost& pass) {
  if (pass.copied > 0_B) {
    kernels.copies.include(pass.copied);
  }
  if (pass.on_host) {
    return;
  }
  const double launches = std::max(pass.kernels, 1.0);
  if (pass.bytes > 0_B) {
    kernels.streams.include(pass.bytes / launches);
  }
  if (pass.random_bytes > 0_B) {
    kernels.gathers.include(pass.random_bytes);
  }
  if (pass.flops > 0_flop) {
    kernels.products.include(pass.flops);
  }
}

}  // namespace payoff
