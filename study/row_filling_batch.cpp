// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "study/row_filling.hpp"

namespace payoff {

// Benchmarks fill the memory: NVIDIA's run of ResNet-50 in fp32 has 112 on 16 GB (dle_cnn);
// torchvision's references start from 32, and GRACE's authors later ran ResNet-50 in
// tf_cnn_benchmarks with 256, which needs 32 GB.
void RowFilling::batch_of_images() {
  if (row().model.family != "cnn" || row().layout.global_batch || row().layout.micro_batch ||
      !row().compressed()) {
    return;
  }
  fill<int>(128, {{32, "32"}, {64, "64"}, {256, "256"}}, "micro-batch of 128, or of 32 to 256",
            [](TrainingRow& to, int batch) {
              to.layout.micro_batch = batch;
              to.layout.global_batch = product(batch, to.cluster.gpus.value_or(1));
            });
}

namespace {

// Tokens as sequences; nothing where they are not a whole number of them, within `slip`.
std::optional<int> sequences_of(int tokens, int length, int multiple, double slip) {
  const double unit = static_cast<double>(length) * multiple;
  const double count = unit > 0 ? std::round(tokens / unit) : 0;
  const bool near = count > 0 && std::abs(tokens / (count * unit) - 1) <= slip;
  return near ? std::optional(static_cast<int>(count) * multiple) : std::nullopt;
}

}  // namespace

// The same batch in sequences. A micro-batch that is shorter than one sequence counts sequences
// already, and "4 million tokens" are as many replicas' micro-batches as come nearest.
void RowFilling::batch_of_tokens() {
  if (row().layout.batch_unit != "tokens") {
    return;
  }
  constexpr double rounded = 0.05;
  bool whole = true;
  const auto change = [&](TrainingRow& to) {
    TrainingLayout& layout = to.layout;
    const int length = to.model.seq.value_or(0);
    const bool counted = layout.micro_batch && *layout.micro_batch < length;
    if (layout.micro_batch && !counted) {
      layout.micro_batch = sequences_of(*layout.micro_batch, length, 1, 0.0);
      whole = whole && layout.micro_batch;
    }
    if (layout.global_batch) {
      const auto step =
          counted ? product(*layout.micro_batch, layout.dp.value_or(1)) : std::optional(1);
      layout.global_batch =
          sequences_of(*layout.global_batch, length, step.value_or(0), counted ? rounded : 0.0);
      whole = whole && layout.global_batch;
    }
    layout.batch_unit.reset();
  };
  RowPrior as_it_was = prior_;
  const std::optional<int> tokens = row().layout.global_batch;
  change_all(change);
  if (!whole) {
    prior_ = std::move(as_it_was);
  } else if (tokens && row().layout.micro_batch) {
    prior_.minor.push_back("batch of " + std::to_string(*tokens) + " tokens as " +
                           std::to_string(row().layout.global_batch.value_or(0)) + " sequences");
  }
}

// A row that states a micro-batch and no count of them had one in a step, or several. Where weights
// are sharded the speedup of compression hardly depends on it (study/row_prior.hpp).
void RowFilling::accumulation() {
  const TrainingLayout& layout = row().layout;
  if (layout.global_batch || !layout.micro_batch || !layout.dp || layout.grad_accum ||
      layout.num_micro_batches || layout.pp.value_or(1) > 1) {
    return;
  }
  const auto set = [](TrainingRow& to, int count) {
    const auto replica = product(to.layout.micro_batch.value_or(0), count);
    to.layout.global_batch = replica ? product(*replica, to.layout.dp.value_or(0)) : std::nullopt;
  };
  if (row().compressed() && (layout.zero == "3" || layout.zero == "hybrid")) {
    change_all([&](TrainingRow& to) { set(to, 1); });
    prior_.minor.emplace_back("one micro-batch a step");
  } else {
    fill<int>(1, {{2, "2"}, {8, "8"}}, "one micro-batch a step, or up to eight", set);
  }
}

}  // namespace payoff
