// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/evaluate.hpp"
#include "model/experiment.hpp"
#include "model/step_plan.hpp"
#include "study/draws.hpp"

// How predictions move together when the parameters they stand on move: every plan of an ensemble
// is scaled by the same draw (compute and network are the same machine, a codec belongs to its
// method) and evaluated again, so that a common error cancels in their ratio. Work scales with the
// compute or codec latent, messages with the network latents times their own relative_sd; the host
// scales with compute. What the evaluator decides (overlap, exposure, the critical path) is decided
// anew in every draw.

namespace payoff {

struct UncertainCodec {
  double sd{};           // relative, of encode and decode
  std::size_t latent{};  // which of a draw's codec latents
};

struct UncertainPlan {
  StepPlan plan;
  std::vector<UncertainCodec> codecs = {};  // as Work::method counts them
  double batches{1};                        // samples of a step, relative to the baseline's step
};

// What is not known about the codecs of a plan. Plans of one method share its latent, by its name
// in `known`, which grows: their errors are the same error.
[[nodiscard]] std::vector<UncertainCodec> uncertain_codecs(
    const CompressionPlan& plan, std::map<std::string, std::size_t>& known);

// A plan of the job with them.
[[nodiscard]] UncertainPlan uncertain_plan(const PreparedExperiment& job,
                                           const CompressionPlan& plan,
                                           std::map<std::string, std::size_t>& known);

// Relative standard deviation of everything a GPU computes: kernels and software stack.
[[nodiscard]] double compute_sd(const Experiment& experiment);

// The latent of a message's own kind.
[[nodiscard]] std::size_t message_latent(const Message& message);
// How far a message is off, in its own standard deviations: its time grows by exp(relative_sd * z).
[[nodiscard]] double message_deviation(const Message& message, const Latents& latents);
// What that makes of its time, not below what the bytes take at line rate.
[[nodiscard]] double message_factor(const Message& message, const Latents& latents);

class Ensemble {
 public:
  Ensemble(std::vector<UncertainPlan> plans, double compute_sd);

  // The plan with the draw's parameters. The answer is valid until the next call.
  [[nodiscard]] const StepPlan& scaled(std::size_t plan, const Draw& draw);
  // Time of plan `plan` for one baseline batch.
  [[nodiscard]] Seconds step(std::size_t plan, const Draw& draw);
  [[nodiscard]] std::size_t size() const { return plans_.size(); }
  // How many variables of codecs its draws have, at least one.
  [[nodiscard]] std::size_t codecs() const;

 private:
  struct Factors;
  void scale_compute(const Draw& draw);
  [[nodiscard]] Factors factors(std::size_t plan, const Draw& draw) const;
  static void scale_stage(const StagePlan& from, StagePlan& to, const Factors& factors);
  static void scale_kind(const BucketKind& from, BucketKind& to, const Factors& factors);

  std::vector<UncertainPlan> plans_;
  std::vector<StepPlan> scaled_;
  // Each stage computation once, however many plans share it; those with codecs belong to one.
  struct Original {
    std::shared_ptr<const StageCompute> compute;
    std::size_t plan{};
  };
  std::map<const StageCompute*, std::shared_ptr<StageCompute>> computes_;
  std::vector<Original> originals_;
  double compute_sd_;
  Latents scaled_for_{};
  std::vector<double> codecs_for_;
  bool is_scaled_{};
};

// Time of a plan of `experiment` with the latents at their believed means.
[[nodiscard]] Seconds central_step(const StepPlan& plan, const Experiment& experiment,
                                   const Latents& mean);

// Times of every plan (first index) under every draw (second).
[[nodiscard]] std::vector<std::vector<Seconds>> sample_steps(Ensemble& ensemble,
                                                             const std::vector<Draw>& draws);

}  // namespace payoff
