// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/engine_option.hpp"
#include "cli/json_output.hpp"
#include "cli/session.hpp"
#include "cli/training_text.hpp"
#include "cli/trust.hpp"
#include "profiles/library.hpp"
#include "profiles/read_experiment.hpp"
#include "study/break_even.hpp"
#include "study/fitting_layout.hpp"
#include "study/payoff.hpp"

// The answer of `payoff predict`: a table of strategies, the sets where each pays, and the verdict
// in words as the last line; the same as versioned JSON and as CSV.

namespace payoff {

struct PredictionReport {
  const ReadExperiment& read;
  const PreparedExperiment& prepared;
  const Library& library;
  AssessOptions options;
  Payoff payoff;
  std::vector<BreakEven> break_evens;
  std::vector<EngineAnswers> engines;
  std::vector<std::vector<Obstacle>> obstacles;  // of every plan
  Trust trust;
  TrainingQuestion training;
  std::optional<FittingLayout> nearest;  // where the job as given does not fit
};

[[nodiscard]] std::string prediction_text(const PredictionReport& report);
[[nodiscard]] std::string prediction_json(const PredictionReport& report, const Session& session);
[[nodiscard]] std::string prediction_csv(const PredictionReport& report);

// Compute, codec and communication of a step, in the columns of the table; they add up to the step.
struct Shares {
  Seconds compute{};  // with optimizer, host, bucket copies and interference
  Seconds codec{};
  Seconds exposed{};
  Seconds bubble{};
  Seconds overheads{};  // the latest host, data, checkpoints: where the job states any
};
[[nodiscard]] Shares shares_of(const Waterfall& waterfall);

// Of every plan, what stands in the way of running it.
[[nodiscard]] std::vector<std::vector<Obstacle>> obstacles_of(const ReadExperiment& read);

// Where the job as given does not fit: what would. Empty otherwise.
[[nodiscard]] std::string nearest_sentence(const PredictionReport& report);

// What was compared, in one line.
[[nodiscard]] std::string experiment_headline(const Experiment& experiment);

}  // namespace payoff
