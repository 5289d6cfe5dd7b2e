// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "model/compression.hpp"
#include "model/evaluate.hpp"
#include "model/layout.hpp"
#include "model/problem.hpp"
#include "model/step_plan.hpp"
#include "model/transformer.hpp"
#include "model/workload.hpp"

// The question: a cluster, a model, a layout and the compression plans to compare, the first of
// which is always "none". START READING HERE: predict() is the whole path from a question to a
// predicted step.

namespace payoff {

struct Experiment {
  std::string name;
  Cluster cluster;
  Software software;
  std::variant<TransformerShape, Workload> model;  // a table of layers is not divided by tp
  ParallelLayout layout;
  Training training;
  std::vector<CompressionPlan> plans;
};

// Every combination that cannot be expressed, all at once; paths as in the experiment file.
[[nodiscard]] Problems check(const Experiment& experiment);

// What does not depend on the compression plan: layers priced on this GPU, groups priced on this
// network, gradients cut into buckets. Build once, plan many strategies. Requires check() empty.
class PreparedExperiment {
 public:
  explicit PreparedExperiment(const Experiment& experiment);

  [[nodiscard]] StepPlan plan(const CompressionPlan& compression) const;
  [[nodiscard]] Memory memory(const StepPlan& plan, const CompressionPlan& compression) const;
  [[nodiscard]] StepPrediction predict(const CompressionPlan& compression) const;

  [[nodiscard]] const Experiment& experiment() const { return experiment_; }

 private:
  Experiment experiment_;
};

}  // namespace payoff
