// SPDX-License-Identifier: Apache-2.0
#include "study/compute_calibration.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "study/row_catalogue.hpp"
#include "study/shipped_profiles.hpp"

namespace payoff {
namespace {

// What a field that had to be assumed adds to the spread of a step, in logarithms: a wrong
// micro-batch, recomputation or pipeline schedule changes it by a tenth and more.
constexpr double per_guess = 0.12;

bool weighs(const std::string& assumption) {
  return assumption.starts_with("micro-batch") || assumption.starts_with("no recomputation") ||
         assumption.starts_with("stages ") || assumption.starts_with("clock lower") ||
         assumption.starts_with("servers take");
}

// The busiest rank decides how long a mixture's products take, and no row says how busy it was:
// such steps are predicted, but no law is fitted to them.
bool has_experts(const Experiment& experiment) {
  const auto* shape = std::get_if<TransformerShape>(&experiment.model);
  return shape != nullptr && shape->experts.count > 0;
}

// Kernels for grouped convolutions reach less of the peak than others, and no law says how much.
bool has_grouped_convolutions(const Experiment& experiment) {
  const auto* workload = table_of(experiment.model);
  return workload != nullptr &&
         std::any_of(workload->layers.begin(), workload->layers.end(), [](const Layer& layer) {
           return std::any_of(layer.forward.begin(), layer.forward.end(), [](const Operator& op) {
             return op.kind == OperatorKind::convolution && op.batch_per_sample > 1;
           });
         });
}

bool assumes(const std::vector<std::string>& assumptions, std::string_view what) {
  return std::any_of(assumptions.begin(), assumptions.end(),
                     [&](const std::string& assumption) { return assumption.starts_with(what); });
}

}  // namespace

double assumption_sd(const std::vector<std::string>& assumptions) {
  double variance = 0;
  for (const std::string& assumption : assumptions) {
    variance += weighs(assumption) ? per_guess * per_guess : 0;
  }
  return std::sqrt(variance);
}

ComputeCases compute_cases(const std::vector<TrainingRow>& rows, const Split& split,
                           const RowCatalogue& catalogue) {
  ComputeCases result;
  for (const TrainingRow& row : rows) {
    if (row.compressed() || split.half(row) != Half::fit) {
      continue;
    }
    if (row.trust == "low") {
      result.left_out.push_back({row.id, {"the collection does not trust it"}});
      continue;
    }
    RowExperiment mapped = row_experiment(row, catalogue);
    if (!mapped.experiment) {
      result.left_out.push_back({row.id, std::move(mapped.reasons)});
      continue;
    }
    if (assumes(mapped.assumptions, "tokens in clusters")) {
      result.left_out.push_back({row.id, {"how tokens spread over the words is not stated"}});
      continue;
    }
    if (assumes(mapped.assumptions, "servers take")) {
      result.left_out.push_back({row.id, {"where its servers were is not stated"}});
      continue;
    }
    if (assumes(mapped.assumptions, "software as ")) {
      result.left_out.push_back({row.id, {"its software is known by its generation only"}});
      continue;
    }
    if (has_experts(*mapped.experiment)) {
      result.left_out.push_back({row.id, {"how tokens spread over the experts is not stated"}});
      continue;
    }
    if (has_grouped_convolutions(*mapped.experiment)) {
      result.left_out.push_back({row.id, {"grouped convolutions, which no law describes"}});
      continue;
    }
    const std::string group =
        row.source + "/" + mapped.stack + "/" + mapped.experiment->cluster.gpu.name;
    result.cases.push_back({std::move(*mapped.experiment), *row.measured.step, row.id, group,
                            assumption_sd(mapped.assumptions), row.source});
  }
  return result;
}

ComputeCalibration calibrate_compute(const Library& library,
                                     const std::filesystem::path& validation) {
  const RowCatalogue catalogue = read_row_catalogue(library, false);
  const TrainingImport import = read_training_rows(validation / "training");
  Findings findings;
  const Split split = read_split(validation / "split.csv", findings);
  if (import.rows.empty()) {
    findings.insert(findings.end(), import.findings.begin(), import.findings.end());
  }
  throw_if_any(findings, "the published rows cannot be used");

  ComputeCalibration calibration;
  calibration.cases = compute_cases(import.rows, split, catalogue);
  std::vector<std::string> stacks;
  stacks.reserve(catalogue.software.size());
  for (const auto& [name, software] : catalogue.software) {
    stacks.push_back(name);
  }
  calibration.fit = fit_compute(calibration.cases.cases, stacks);
  calibration.profile = compute_profile(calibration.fit, all_values(catalogue.gpus));
  return calibration;
}

}  // namespace payoff
