// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/convnet.hpp"
#include "model/experiment.hpp"
#include "model/recommender.hpp"
#include "profiles/import/training_rows.hpp"

// From a published training run to the experiment that predicts it. What the row states is taken as
// it is; what it does not state is filled by a rule that depends on the software stack or the
// machine, never on the measured value, and is listed as an assumption. A row that cannot be
// expressed says why: all reasons, never a silent skip. The compression of a row is not mapped
// here: the experiment is that of its uncompressed baseline.

namespace payoff {

// A GPU that a source does not name, as its runs on one GPU tell: study/unstated_gpu.hpp.
struct UnstatedGpu {
  std::string source;
  std::optional<std::string> software, model, precision;    // of these runs
  std::string likely;                                       // a name in RowCatalogue::gpus
  std::vector<std::pair<std::string, std::string>> others;  // such names, and the cards in words
  std::string assumption;
};

// Everything a row may refer to, by profile name.
struct RowCatalogue {
  std::map<std::string, Gpu> gpus;
  std::map<std::string, Fabric> fabrics;
  std::map<std::string, Network> networks;
  std::map<std::string, Software> software;
  std::map<std::string, std::vector<ConvnetRow>> convnets;
  std::map<std::string, RecommenderShape> recommenders;
  std::map<std::string, TransformerShape> mixtures;      // of experts
  std::map<std::string, TransformerShape> transformers;  // all others
  std::vector<UnstatedGpu> unstated;
};

struct RowExperiment {
  std::optional<Experiment> experiment;  // empty when there are reasons
  std::vector<std::string> reasons;
  std::vector<std::string> assumptions;
  std::string stack;  // name of the software profile, also when there are reasons
};

// Whether a measured step that implies more than the GPU's peak refuses the row: of a row as it was
// published only, since of one that was filled in that would be a choice by what was measured.
enum class PeakCheck { measured_step, none };

[[nodiscard]] RowExperiment row_experiment(const TrainingRow& row, const RowCatalogue& catalogue,
                                           PeakCheck check_peak = PeakCheck::measured_step);

}  // namespace payoff
