// SPDX-License-Identifier: Apache-2.0
#include "study/payoff.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "study/spread.hpp"

namespace payoff {
namespace {

// All that competes, in one ensemble: the plans in order, then the 16-bit job, then the remedy.
class Contest {
 public:
  Contest(const Experiment& experiment, const AssessOptions& options)
      : experiment_(experiment), prepared_(experiment), options_(options) {
    payoff_.band = options.band;
    if (!options.observed.empty() || !options.collectives.empty()) {
      payoff_.observed = condition(experiment, options.observed, options.collectives);
      belief_ = payoff_.observed->belief;
    }
    if (reduces_in_32_bits(experiment)) {
      payoff_.sixteen_bit = uncompressed_variant(prepared_, {.sixteen_bit = true});
    }
    payoff_.remedy = options.search_remedy ? best_remedy(prepared_, options.limits, belief_.mean)
                                           : uncompressed_variant(prepared_, {});
  }

  Payoff run() {
    Ensemble ensemble(competitors(), compute_sd(experiment_));
    const auto draws = make_draws(options_.draws, options_.seed, ensemble.codecs(), belief_);
    const std::vector<Timing> timings = time(ensemble, draws);
    const std::size_t plans = experiment_.plans.size();
    const Timing& remedy = timings.back();
    for (std::size_t i = 0; i < plans; ++i) {
      PlanPayoff& plan = payoff_.plans.emplace_back();
      plan.label = experiment_.plans[i].label;
      plan.prediction = central_prediction(ensemble, i);
      plan.prediction.memory = prepared_.predict(experiment_.plans[i]).memory;
      plan.step_low = timings[i].quantile(0.05);
      plan.step_high = timings[i].quantile(0.95);
      plan.against_uncompressed = compare(timings[i], timings.front(), options_.band);
      if (payoff_.sixteen_bit) {
        plan.against_sixteen_bit = compare(timings[i], timings[plans], options_.band);
      }
      plan.against_remedy = compare(timings[i], remedy, options_.band);
      if (options_.sensitivity && i > 0) {
        plan.decided_by = what_decides(ensemble, draws, timings, i);
      }
    }
    payoff_.remedy_gain = compare(remedy, timings.front(), options_.band);
    if (payoff_.sixteen_bit) {
      update(*payoff_.sixteen_bit, central_prediction(ensemble, plans));
    }
    update(payoff_.remedy, central_prediction(ensemble, timings.size() - 1));
    return std::move(payoff_);
  }

 private:
  std::vector<UncertainPlan> competitors() {
    std::vector<UncertainPlan> all;
    std::map<std::string, std::size_t> codecs;
    for (const CompressionPlan& plan : experiment_.plans) {
      const UncertainPlan& uncertain = all.emplace_back(uncertain_plan(prepared_, plan, codecs));
      std::vector<std::size_t>& places = codecs_.emplace_back();
      for (const UncertainCodec& codec : uncertain.codecs) {
        if (std::find(places.begin(), places.end(), codec.latent) == places.end()) {
          places.push_back(codec.latent);  // one method may serve two kinds of traffic
        }
      }
    }
    if (payoff_.sixteen_bit) {
      all.push_back({.plan = payoff_.sixteen_bit->plan});
    }
    all.push_back({.plan = payoff_.remedy.plan, .batches = payoff_.remedy.batches});
    return all;
  }

  [[nodiscard]] Draw central() const { return {belief_.mean, {}}; }

  // Of plan `i` against the remedy, the last of the ensemble.
  [[nodiscard]] std::vector<Influence> what_decides(Ensemble& ensemble,
                                                    const std::vector<Draw>& draws,
                                                    const std::vector<Timing>& timings,
                                                    std::size_t i) const {
    std::vector<double> speedups;
    for (std::size_t d = 0; d < draws.size(); ++d) {
      speedups.push_back(timings.back().drawn[d] / timings[i].drawn[d]);
    }
    return influences(draws, speedups, codecs_[i], belief_, [&](const Draw& draw) {
      return ensemble.step(ensemble.size() - 1, draw) / ensemble.step(i, draw);
    });
  }

  std::vector<Timing> time(Ensemble& ensemble, const std::vector<Draw>& draws) const {
    std::vector<std::vector<Seconds>> drawn = sample_steps(ensemble, draws);
    std::vector<Timing> timings;
    for (std::size_t i = 0; i < ensemble.size(); ++i) {
      timings.push_back({ensemble.step(i, central()), std::move(drawn[i])});
    }
    return timings;
  }

  [[nodiscard]] StepPrediction central_prediction(Ensemble& ensemble, std::size_t i) const {
    return evaluate(ensemble.scaled(i, central()));
  }

  static void update(Variant& variant, StepPrediction prediction) {
    prediction.memory = variant.prediction.memory;
    variant.prediction = prediction;
  }

  const Experiment& experiment_;
  PreparedExperiment prepared_;
  const AssessOptions& options_;
  Belief belief_;
  std::vector<std::vector<std::size_t>> codecs_;  // of the plans: places in Draw::codecs
  Payoff payoff_;
};

}  // namespace

const PlanPayoff* Payoff::best_plan() const {
  const PlanPayoff* best = nullptr;
  for (std::size_t i = 1; i < plans.size(); ++i) {
    const bool fits = plans[i].prediction.memory.fits();
    if (fits &&
        (best == nullptr || plans[i].against_remedy.speedup > best->against_remedy.speedup)) {
      best = &plans[i];
    }
  }
  return best;
}

Verdict Payoff::verdict_of(const PlanPayoff& plan) {
  if (!plan.prediction.memory.fits()) {
    return Verdict::does_not_fit;
  }
  return plan.against_remedy.verdict();
}

Verdict Payoff::overall_verdict() const {
  if (plans.size() < 2) {
    return Verdict::does_not;
  }
  const PlanPayoff* best = best_plan();
  return best == nullptr ? Verdict::does_not_fit : verdict_of(*best);
}

Payoff assess(const Experiment& experiment, const AssessOptions& options) {
  return Contest(experiment, options).run();
}

}  // namespace payoff
