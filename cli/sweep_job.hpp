// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/experiment_input.hpp"
#include "cli/sweep_axes.hpp"
#include "sim/step.hpp"
#include "study/engine.hpp"
#include "study/sweep.hpp"

// One job of a sweep: the experiment read with the job's values, every strategy predicted, a line
// of JSON each. Nothing is shared with other jobs but what nobody writes, so that any thread may
// run any job.

namespace payoff {

struct SweepQuestion {
  const Library& library;
  Document document;  // all but the axes is set
  SourceMap sources;  // that it points into
  SweepInput input;
  SweepDesign design;
  Engine engine{Engine::analytical};
  sim::SimOptions simulation{};  // of that engine
  bool verdicts{};               // intervals and probabilities too: some thousand times the work
  std::vector<std::string> strategies{};  // labels, the uncompressed job first, then as listed
};

// The experiment of a job; what is wrong with it goes to `diagnostics`, at places in `sources`.
[[nodiscard]] std::optional<ReadExperiment> read_job(const SweepQuestion& question,
                                                     const std::vector<std::size_t>& values,
                                                     SourceMap& sources, Diagnostics& diagnostics);

// {job, AXIS: VALUE...}: which job this is.
[[nodiscard]] nlohmann::ordered_json axes_json(const SweepQuestion& question, std::uint64_t number,
                                               const std::vector<std::size_t>& values);

// The same question about one strategy alone, by its place among them.
[[nodiscard]] SweepQuestion about_one_strategy(const SweepQuestion& question, std::size_t place);

// The first thing that is wrong with a job.
[[nodiscard]] std::string first_error(const Diagnostics& diagnostics);

// As many lines as there are strategies. A job or strategy that cannot be is a result: its status
// is `impossible`, with the reason.
[[nodiscard]] std::string job_lines(const SweepQuestion& question, std::uint64_t number);

}  // namespace payoff
