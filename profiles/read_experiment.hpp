// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/experiment.hpp"
#include "model/remedy_limits.hpp"
#include "model/run_schedule.hpp"
#include "model/topology.hpp"
#include "profiles/method_notes.hpp"
#include "profiles/positions.hpp"
#include "profiles/read_hardware.hpp"

// An experiment file (examples/*/experiment.yaml shows every section), with the profiles it names
// and what was set over it, as one Experiment that the model accepts. All mistakes of the file, of
// the arguments and of their combination are reported together.

namespace payoff {

struct ReadExperiment {
  Experiment experiment;
  Facts facts;                     // paths as in the experiment: "cluster.gpu.peak.bf16"
  std::vector<MethodNotes> notes;  // of every plan of the experiment
  ClusterState cluster_state;      // what only the simulator sees
  RemedyLimits limits;
  std::optional<RunSchedule> run;  // where the file says how its compression changes
  Document document;               // what was read, overrides applied: `--save` writes it
  PositionMap positions;
};

// `settings` are the --set arguments (number on the command line, text after --set).
struct Setting {
  int argument{};
  std::string text;
};

// Whether a plan that the layout as given refuses is wanted all the same: a search asks whether any
// of the layouts that it tries can have it. Asked only where all else is right.
using TakesPlan = std::function<bool(const Experiment&, const CompressionPlan&)>;

[[nodiscard]] std::optional<ReadExperiment> read_experiment(const std::filesystem::path& file,
                                                            const std::vector<Setting>& settings,
                                                            const ReadContext& context);

// The same from a document made of command-line options alone.
[[nodiscard]] std::optional<ReadExperiment> read_experiment(Document document,
                                                            const std::vector<Setting>& settings,
                                                            const ReadContext& context,
                                                            const TakesPlan& takes_plan = {});

}  // namespace payoff
