// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "model/experiment.hpp"

// One job with other numbers again and again, each strategy predicted: what does not depend on the
// numbers that differ from one job to the next stays prepared. The predictions are those of a
// PreparedExperiment of each job. For one thread.

namespace payoff {

class JobSeries {
 public:
  // Requires check() without its plans empty, also for all numbers below.
  explicit JobSeries(const Experiment& experiment);

  void change(const JobNumbers& numbers);
  // Of a plan of the experiment, by its place there.
  [[nodiscard]] StepPlan plan(std::size_t place);
  [[nodiscard]] const std::vector<CallCost>& codec_costs(std::size_t place);
  [[nodiscard]] StepPrediction predict(std::size_t place) {
    return prepared().predict(plan(place));
  }
  // With the present numbers.
  [[nodiscard]] const PreparedExperiment& prepared() const { return now_->prepared; }
  [[nodiscard]] const Experiment& experiment() const { return prepared().experiment(); }

 private:
  // What codecs do depends on the gradients and on who sums them, not on links.
  using CodecKey = std::tuple<int, int, int, double, double>;
  using CodecCosts = std::vector<std::optional<std::vector<CallCost>>>;  // of each plan, if known
  // Layers are priced for a number of samples: one that comes again keeps its prices.
  struct Prepared {
    explicit Prepared(const Experiment& experiment) : prepared(experiment) {}
    PreparedExperiment prepared;
    std::map<CodecKey, CodecCosts> codecs;
  };

  std::map<int, Prepared> prepared_;  // by samples of a micro-batch
  Prepared* now_;
  CodecCosts* codecs_{};  // of the present numbers
};

}  // namespace payoff
