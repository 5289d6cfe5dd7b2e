// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/training_checks.hpp"

#include <cmath>
#include <map>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

namespace payoff::import_detail {

namespace {

// Printed throughputs and steps are rounded, most to three digits.
constexpr double tolerance = 0.01;

// Not one that was made here from a throughput: batches may differ.
std::optional<Seconds> stated_step(const TrainingMeasurement& measured) {
  return measured.step_origin == StepOrigin::from_throughput ? std::nullopt : measured.step;
}

// Time of the baseline over that of the row, by the first figure that both have.
struct GivenSpeedup {
  double value{};
  std::string_view figure;
};

std::optional<GivenSpeedup> given_speedup(const TrainingMeasurement& own,
                                          const TrainingMeasurement& other) {
  std::optional<GivenSpeedup> given;
  const auto shorter = [&](const auto& mine, const auto& theirs, std::string_view name) {
    if (!given && mine && theirs) {
      given = {*theirs / *mine, name};
    }
  };
  const auto larger = [&](const auto& mine, const auto& theirs, std::string_view name) {
    if (!given && mine && theirs) {
      given = {*mine / *theirs, name};
    }
  };
  shorter(stated_step(own), stated_step(other), "steps");
  larger(own.samples, other.samples, "samples a second");
  larger(own.tokens, other.tokens, "tokens a second");
  larger(own.flops_per_gpu, other.flops_per_gpu, "TFLOP/s");
  shorter(own.total, other.total, "times");
  return given;
}

// Empty when the speedup is what the figures give, or they have nothing in common.
std::string speedup_contradiction(const TrainingRow& row, const TrainingRow& baseline) {
  const std::optional<double>& stated = row.measured.speedup_vs_baseline;
  const auto given = given_speedup(row.measured, baseline.measured);
  if (!stated || *stated <= 0 || !given || std::abs(*stated / given->value - 1.0) <= tolerance) {
    return "";
  }
  return fmt::format(
      "speedup_vs_baseline {:.6g} contradicts the {} of this row and of '{}': {:.6g}", *stated,
      given->figure, baseline.id, given->value);
}

std::vector<std::string> not_positive(const TrainingMeasurement& measured) {
  std::vector<std::string> found;
  const auto require = [&](const auto& figure, const char* name) {
    if (figure && !(*figure > std::decay_t<decltype(*figure)>{})) {
      found.push_back(std::string(name) + " must be positive");
    }
  };
  require(measured.step, "step_s");
  require(measured.samples, "samples a second");
  require(measured.tokens, "tokens a second");
  require(measured.flops_per_gpu, "TFLOP/s");
  require(measured.total, "time");
  require(measured.speedup_vs_baseline, "speedup_vs_baseline");
  return found;
}

std::vector<std::string> no_counts(const TrainingRow& row) {
  std::vector<std::string> found;
  const auto require = [&](const std::optional<int>& count, const char* name) {
    if (count && *count < 1) {
      found.push_back(fmt::format("{} must be at least 1, is {}", name, *count));
    }
  };
  require(row.cluster.gpus, "gpus");
  require(row.cluster.nodes, "nodes");
  require(row.cluster.gpus_per_node, "gpus_per_node");
  require(row.layout.tp, "tp");
  require(row.layout.pp, "pp");
  require(row.layout.dp, "dp");
  require(row.layout.cp, "cp");
  require(row.layout.ep, "ep");
  require(row.layout.vp, "vp");
  require(row.layout.zero_group, "zero_group");
  require(row.layout.micro_batch, "micro_batch");
  require(row.layout.grad_accum, "grad_accum");
  require(row.layout.num_micro_batches, "num_micro_batches");
  require(row.layout.global_batch, "global_batch");
  return found;
}

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
  std::vector<std::string> found = no_counts(row);
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
  for (std::string& what : not_positive(row.measured)) {
    found.push_back(std::move(what));
  }
  const std::optional<Seconds> from_throughput = step_from_throughput(row);
  const std::optional<Seconds> step = row.measured.step;
  if (step && *step > 0_s && from_throughput &&
      std::abs(*from_throughput / *step - 1.0) > tolerance) {
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

void check_baselines(const std::set<std::string>& ids, TrainingImport& result) {
  std::map<std::string, const TrainingRow*> by_id;
  for (const TrainingRow& row : result.rows) {
    by_id[row.id] = &row;
  }
  std::set<std::string> rejected;
  const auto report = [&result](const TrainingRow& row, const std::string& message, Effect effect) {
    result.findings.push_back({row.file, row.line, row.column, row.id, message, effect});
  };
  for (TrainingRow& row : result.rows) {
    const auto baseline = by_id.find(row.baseline_id.value_or(""));
    if (row.baseline_id && !ids.contains(*row.baseline_id)) {
      report(row, fmt::format("baseline_id: there is no row '{}'", *row.baseline_id),
             Effect::noted);
    } else if (baseline != by_id.end()) {
      const std::string problem = speedup_contradiction(row, *baseline->second);
      if (!problem.empty()) {
        report(row, problem, Effect::rejected);
        rejected.insert(row.id);
      } else if (!row.measured.speedup_vs_baseline) {  // the collection left it to us
        const auto given = given_speedup(row.measured, baseline->second->measured);
        row.measured.speedup_vs_baseline = given ? std::optional(given->value) : std::nullopt;
      }
    }
  }
  std::erase_if(result.rows, [&](const TrainingRow& row) { return rejected.contains(row.id); });
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
