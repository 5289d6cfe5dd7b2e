// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/training_checks.hpp"

#include <cmath>

#include <fmt/format.h>

namespace payoff::import_detail {

namespace {

// Printed throughputs and steps are rounded, most to three digits.
constexpr double tolerance = 0.01;

}  // namespace

std::optional<Seconds> step_from_throughput(const TrainingRow& row) {
  const TrainingLayout& layout = row.layout;
  const TrainingMeasurement& measured = row.measured;
  if (!layout.global_batch) {
    return std::nullopt;
  }
  const double batch = *layout.global_batch;
  const std::string unit = layout.batch_unit.value_or("samples");
  if (unit == "tokens") {
    return measured.tokens ? std::optional(batch / *measured.tokens) : std::nullopt;
  }
  if (unit == "tokens-max") {
    return std::nullopt;
  }
  if (measured.samples) {
    return batch / *measured.samples;
  }
  if (measured.tokens && row.model.seq) {
    return batch * *row.model.seq / *measured.tokens;
  }
  return std::nullopt;
}

std::vector<std::string> contradictions(const TrainingRow& row) {
  std::vector<std::string> found;
  const TrainingCluster& cluster = row.cluster;
  const TrainingLayout& layout = row.layout;
  if (cluster.gpus && cluster.nodes && cluster.gpus_per_node) {
    const double most = static_cast<double>(*cluster.nodes) * *cluster.gpus_per_node;
    if (*cluster.gpus > most || *cluster.gpus <= most - *cluster.gpus_per_node) {
      found.push_back(fmt::format("{} gpus contradict {} nodes of {}", *cluster.gpus,
                                  *cluster.nodes, *cluster.gpus_per_node));
    }
  }
  if (cluster.gpus && layout.tp && layout.pp && layout.dp) {
    const int context = layout.cp.value_or(1);
    const double product = static_cast<double>(*layout.tp) * *layout.pp * *layout.dp * context;
    if (product != *cluster.gpus) {
      found.push_back(fmt::format("tp {} x pp {} x dp {} x cp {} contradict {} gpus", *layout.tp,
                                  *layout.pp, *layout.dp, context, *cluster.gpus));
    }
  }
  const std::optional<Seconds> from_throughput = step_from_throughput(row);
  const std::optional<Seconds> step = row.measured.step;
  if (step && *step <= 0_s) {
    found.emplace_back("step_s must be positive");
  } else if (step && from_throughput && std::abs(*from_throughput / *step - 1.0) > tolerance) {
    found.push_back(fmt::format("step_s {:.6g} contradicts global_batch / throughput = {:.6g} s",
                                *step / 1_s, *from_throughput / 1_s));
  }
  return found;
}

std::vector<std::string> doubts(const TrainingRow& row) {
  std::vector<std::string> found;
  const TrainingLayout& layout = row.layout;
  if (layout.global_batch && layout.micro_batch && layout.grad_accum && layout.dp) {
    const double product =
        static_cast<double>(*layout.micro_batch) * *layout.grad_accum * *layout.dp;
    if (product != *layout.global_batch) {
      found.push_back(fmt::format("global_batch {} is not micro_batch {} x grad_accum {} x dp {}",
                                  *layout.global_batch, *layout.micro_batch, *layout.grad_accum,
                                  *layout.dp));
    }
  }
  return found;
}

void derive_step(TrainingRow& row) {
  if (row.measured.step || row.misses("step_s")) {
    return;
  }
  row.measured.step = step_from_throughput(row);
  if (row.measured.step) {
    row.measured.step_origin = StepOrigin::from_throughput;
  }
}

}  // namespace payoff::import_detail
