// SPDX-License-Identifier: Apache-2.0
#include "study/survey.hpp"

#include "study/plan_axes.hpp"
#include "study/scheduled_run.hpp"

namespace payoff {
namespace {

// A job whose plans are asked for again with something taken away.
class Doubts {
 public:
  Doubts(const Experiment& experiment, const Payoff& payoff)
      : experiment_(experiment),
        prepared_(experiment),
        rival_(payoff.remedy.step_per_batch()),
        band_(payoff.band) {}

  // Of a plan that does not pay over the remedy.
  [[nodiscard]] SurveyFinding reason(std::size_t place) const {
    const CompressionPlan& compression = experiment_.plans[place];
    const StepPlan plan = prepared_.plan(compression);
    const bool gradients_only = compression.activations.empty() && !compression.weights;
    if (gradients_only && !pays(without_gradients(prepared_.plan(experiment_.plans.front())))) {
      return SurveyFinding::nothing_exposed;
    }
    if (pays(stretched_codec(plan, 0.0))) {
      return SurveyFinding::codec;
    }
    if (!gradients_only) {
      return SurveyFinding::too_little_saved;
    }
    return pays(with_free_messages(plan)) ? of_messages(plan) : SurveyFinding::codec;
  }

 private:
  [[nodiscard]] bool pays(const StepPlan& plan) const {
    return rival_ > (1.0 + band_) * evaluate(plan).step;
  }

  [[nodiscard]] SurveyFinding of_messages(const StepPlan& plan) const {
    const MessageSizes sizes(experiment_);
    if (const auto summed = sizes.all_reduced(plan); summed && pays(*summed)) {
      return SurveyFinding::cannot_be_summed;
    }
    constexpr double almost_nothing = 1e-6;
    return pays(sizes.resized(plan, almost_nothing)) ? SurveyFinding::too_little_saved
                                                     : SurveyFinding::latency;
  }

  static StepPlan with_free_messages(StepPlan plan) {
    for (BucketKind& kind : plan.kinds) {
      for (BucketRound& round : kind.rounds) {
        round.message.alone = {};
      }
    }
    return plan;
  }

  const Experiment& experiment_;
  PreparedExperiment prepared_;
  Seconds rival_;  // the best remedy, for one batch
  double band_;
};

SurveyFinding finding_of(const PlanPayoff& plan, std::size_t place, const Doubts& doubts) {
  switch (Payoff::verdict_of(plan)) {
    case Verdict::pays:
      return SurveyFinding::pays;
    case Verdict::too_close_to_call:
      return SurveyFinding::too_close;
    case Verdict::does_not_fit:
      return SurveyFinding::does_not_fit;
    case Verdict::no_difference:
    case Verdict::does_not:
      break;
  }
  return plan.against_uncompressed.verdict() == Verdict::pays ? SurveyFinding::remedy_is_enough
                                                              : doubts.reason(place);
}

}  // namespace

std::string_view name(SurveyFinding finding) {
  switch (finding) {
    case SurveyFinding::pays:
      return "pays";
    case SurveyFinding::too_close:
      return "too close to call";
    case SurveyFinding::remedy_is_enough:
      return "a remedy is enough";
    case SurveyFinding::nothing_exposed:
      return "nothing exposed";
    case SurveyFinding::codec:
      return "encode and decode";
    case SurveyFinding::cannot_be_summed:
      return "cannot be summed";
    case SurveyFinding::latency:
      return "latency";
    case SurveyFinding::too_little_saved:
      return "too little saved";
    case SurveyFinding::does_not_fit:
      return "does not fit";
  }
  return "";
}

std::vector<SurveyedPlan> survey(const Experiment& experiment, const SurveyOptions& options) {
  AssessOptions assessment;
  assessment.limits = options.limits;
  assessment.band = options.band;
  assessment.draws = options.draws;
  assessment.seed = options.seed;
  const Payoff payoff = assess(experiment, assessment);
  const Doubts doubts(experiment, payoff);
  std::vector<SurveyedPlan> plans;
  for (std::size_t i = 1; i < payoff.plans.size(); ++i) {
    const PlanPayoff& plan = payoff.plans[i];
    plans.push_back(
        {plan.label, finding_of(plan, i, doubts),
         plan.prediction.memory.fits() && plan.against_uncompressed.verdict() == Verdict::pays,
         plan.prediction.step, plan.against_uncompressed.speedup, plan.against_remedy.speedup,
         plan.against_remedy.probability});
  }
  return plans;
}

}  // namespace payoff
