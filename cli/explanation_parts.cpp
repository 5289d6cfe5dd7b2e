// SPDX-License-Identifier: Apache-2.0
#include "cli/explanation_parts.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "model/compute.hpp"
#include "model/groups.hpp"
#include "model/layer_division.hpp"
#include "model/operator_time.hpp"
#include "model/recomputation.hpp"
#include "model/stage_messages.hpp"

namespace payoff {
namespace {

// max(waves * 2 i j (d / s + d_half) / (rho * rate / U) + sums, traffic) + l
ExplainedPart product_part(const KernelTime& kernel, const Gpu& gpu) {
  const Product& p = *kernel.product;
  const Tiling& t = kernel.tiling;
  std::string arithmetic = fmt::format(
      "{} * 2 * {} * {} * ({} / {} + {}) / ({} * {} / {})", put_in(t.waves), put_in(t.rows),
      put_in(t.columns), put_in(p.depth), put_in(t.slices), put_in(gpu.law.depth_half),
      put_in(t.rate), put_in(kernel.rate.si), gpu.compute_units);
  if (t.partial_sums > 0_B) {
    arithmetic += fmt::format(" + {} / {}", put_in(t.partial_sums.si), bandwidth_of_kernels(gpu));
  }
  std::string what = fmt::format("product {} x {} by {} x {}", put_in(p.rows), put_in(p.depth),
                                 put_in(p.depth), put_in(p.columns));
  if (p.batch != 1) {
    what += fmt::format(", {} of them", put_in(p.batch));
  }
  return {std::move(what), kernel.count,
          fmt::format("max({}, {} / {}) + {}", arithmetic, put_in(kernel.traffic.si),
                      bandwidth_of_kernels(gpu), put_in(gpu.law.launch.si)),
          kernel.time};
}

ExplainedPart kernel_part(const KernelTime& kernel, const Gpu& gpu) {
  if (kernel.product) {
    return product_part(kernel, gpu);
  }
  const std::string stream =
      fmt::format("{} / {}", put_in(kernel.traffic.si), bandwidth_of_kernels(gpu));
  const std::string launches =
      fmt::format(" + {} * {}", put_in(kernel.launches), put_in(gpu.law.launch.si));
  if (kernel.wave > 0_flop) {
    return {"fused attention", kernel.count,
            fmt::format("max({} * {} / {}, {})", put_in(kernel.waves), put_in(kernel.wave.si),
                        put_in(kernel.rate.si), stream) +
                launches,
            kernel.time};
  }
  return {"stream", kernel.count, stream + launches, kernel.time};
}

// Runs of operators: launches queue ahead within one.
class Collector {
 public:
  Collector(const ExplainedPlan& plan, WorkKind kind)
      : experiment_(plan.experiment()),
        context_{experiment_.cluster.gpu, experiment_.software, experiment_.training.precision},
        tensor_(network(MessageKind::tp_activations)),
        ring_(network(MessageKind::cp_activations)),
        experts_(network(MessageKind::ep_activations)),
        expert_tensor_(network(MessageKind::etp_activations)),
        tables_(network(MessageKind::table_activations)),
        messages_(experiment_.layout, context_,
                  {tensor_, ring_, experts_, expert_tensor_, tables_}),
        compression_(plan.compression),
        kind_(kind) {}

  // `block`: its number, below 0 for what is none.
  void layer(const Layer& layer, std::int64_t block) {
    if (kind_ == WorkKind::recompute && !layer.recomputable) {
      return;
    }
    if (kind_ == WorkKind::recompute && experiment_.layout.recompute == Recompute::selective) {
      const std::vector<Operator> again =
          computed_again(layer, Recompute::selective, experiment_.software);
      run(again.data(), again.data() + again.size());
      return;
    }
    if (layer.measured) {
      add_measured(layer);
      return;
    }
    // Launches queue ahead up to an operator whose output must travel.
    const Operator* operators = layer.forward.data();
    const std::size_t count = layer.forward.size();
    if (kind_ != WorkKind::backward) {
      std::size_t begin = 0;
      for (std::size_t i = 0; i < count; ++i) {
        if (i + 1 == count || !messages_.after_forward(layer, i).empty()) {
          run(operators + begin, operators + i + 1);
          begin = i + 1;
        }
      }
      return;
    }
    const bool splits = splits_backward(experiment_.layout.schedule);
    part_ = splits ? BackwardPart::inputs : BackwardPart::both;
    std::size_t end = count;
    for (std::size_t i = count; i-- > 0;) {
      if (i + 1 < end && has_codec_gradients(layer, block, i)) {
        run(operators + i + 1, operators + end);
        end = i + 1;
      }
      if (i == 0 || !messages_.before_backward(layer, i).empty()) {
        run(operators + i, operators + end);
        end = i;
      }
    }
    if (splits) {
      part_ = BackwardPart::weights;
      run(operators, operators + count);
    }
  }

  WorkParts take() { return std::move(parts_); }

 private:
  // Whether what learned to compress the output of an operator interrupts backward there.
  [[nodiscard]] bool has_codec_gradients(const Layer& layer, std::int64_t block,
                                         std::size_t op) const {
    const bool learned =
        std::any_of(compression_.activations.begin(), compression_.activations.end(),
                    [&](const ActivationCompression& of) {
                      return of.traffic == Traffic::tp_activations && of.method.learned &&
                             of.forward && block >= 0 && of.blocks.holds(block);
                    });
    return learned &&
           std::any_of(layer.syncs.begin(), layer.syncs.end(), [&](const TensorParallelSync& sync) {
             return sync.forward && sync.after == op;
           });
  }

  // Launches are in the time.
  void add_measured(const Layer& layer) {
    const Seconds time =
        kind_ == WorkKind::backward ? layer.measured->backward : layer.measured->forward;
    add_part({layer.name + ", measured", 1, put_in(time.si), time}, parts_.kernels);
    parts_.gpu += time;
    parts_.gpu_bound += time;
  }

  void run(const Operator* begin, const Operator* end) {
    Seconds gpu{};
    double launches = 0;
    for (const Operator* op = begin; op != end; ++op) {
      const OperatorTime time =
          kind_ == WorkKind::backward
              ? backward_operator(*op, experiment_.layout.micro_batch, context_, part_)
              : forward_operator(*op, experiment_.layout.micro_batch, context_);
      gpu += time.gpu;
      launches += time.kernels;
      for (const KernelTime& kernel : time.parts) {
        add_part(kernel_part(kernel, context_.gpu), parts_.kernels);
      }
    }
    const Seconds host = launches * context_.software.host_per_kernel;
    parts_.gpu += gpu;
    parts_.launches += launches;
    (gpu >= host ? parts_.gpu_bound : parts_.host_bound) += std::max(gpu, host);
  }

  [[nodiscard]] CollectiveModel network(MessageKind kind) const {
    return {experiment_.cluster,
            group_of(kind, experiment_.layout, experiment_.cluster.gpus_per_node)};
  }

  const Experiment& experiment_;
  ComputeContext context_;
  CollectiveModel tensor_;
  CollectiveModel ring_;
  CollectiveModel experts_;
  CollectiveModel expert_tensor_;
  CollectiveModel tables_;
  StageMessages messages_;
  const CompressionPlan& compression_;
  WorkKind kind_;
  BackwardPart part_{};
  WorkParts parts_;
};

}  // namespace

void add_part(ExplainedPart part, std::vector<ExplainedPart>& parts) {
  const auto known = std::find_if(parts.begin(), parts.end(), [&](const ExplainedPart& other) {
    return other.what == part.what && other.numbers == part.numbers;
  });
  if (known == parts.end()) {
    parts.push_back(std::move(part));
  } else {
    known->count += part.count;
  }
}

std::string bandwidth_of_kernels(const Gpu& gpu) {
  return fmt::format("({} * {})", put_in(gpu.law.memory_efficiency),
                     put_in(gpu.memory_bandwidth.si));
}

std::string put_in(double number) { return fmt::format("{:.6g}", number); }

Seconds sum_of(const std::vector<ExplainedPart>& parts) {
  Seconds sum{};
  for (const ExplainedPart& part : parts) {
    sum += part.count * part.each;
  }
  return sum;
}

WorkParts parts_of_work(const ExplainedPlan& plan, WorkKind kind) {
  if (kind == WorkKind::recompute && plan.experiment().layout.recompute == Recompute::none) {
    return {};
  }
  const Workload& workload = plan.prepared.workload();
  Collector collector(plan, kind);
  const auto division = divide_layers(workload, plan.experiment().layout);
  const std::vector<std::int64_t> blocks = blocks_of_layers(workload);
  for (const std::size_t layer : division.at(plan.stage_index)) {
    collector.layer(workload.layers[layer], blocks[layer]);
  }
  return collector.take();
}

}  // namespace payoff
