// SPDX-License-Identifier: Apache-2.0
#include "study/scheduled_run.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "study/spread.hpp"

namespace payoff {
namespace {

Bytes sent_in(const StepPrediction& step) {
  return step.dp_bytes + step.tp_bytes + step.cp_bytes + step.ep_bytes + step.pp_bytes;
}

// Steps of an ensemble, each so many times.
struct WeightedStep {
  std::size_t step{};  // in the ensemble
  double share{};
};

std::vector<UncertainPlan> competitors(const std::vector<UncertainPlan>& kinds,
                                       const Variant& remedy) {
  std::vector<UncertainPlan> all = kinds;
  all.push_back({.plan = remedy.plan, .batches = remedy.batches});
  return all;
}

// The kinds of steps that the run consists of, each once; the first is the uncompressed job's.
class StepKinds {
 public:
  StepKinds(const PreparedExperiment& prepared, const RunSchedule& schedule)
      : prepared_(prepared), schedule_(schedule) {
    (void)add(0, Exchange::gradients);
  }

  enum class Exchange { gradients, models, none };

  std::size_t add(std::size_t plan, Exchange exchange) {
    const auto [place, is_new] = places_.try_emplace({plan, exchange}, steps_.size());
    if (is_new) {
      const CompressionPlan& compression = schedule_.plans.at(plan);
      UncertainPlan& step = steps_.emplace_back(uncertain_plan(prepared_, compression, codecs_));
      memory_.push_back(prepared_.predict(step.plan).memory);
      if (exchange == Exchange::models) {
        step.plan.overlap = false;
      } else if (exchange == Exchange::none) {
        step.plan = without_gradients(std::move(step.plan));
      }
    }
    return place->second;
  }

  [[nodiscard]] const std::vector<UncertainPlan>& steps() const { return steps_; }
  [[nodiscard]] const Memory& memory(std::size_t step) const { return memory_[step]; }

 private:
  const PreparedExperiment& prepared_;
  const RunSchedule& schedule_;
  std::map<std::pair<std::size_t, Exchange>, std::size_t> places_;
  std::map<std::string, std::size_t> codecs_;
  std::vector<UncertainPlan> steps_;
  std::vector<Memory> memory_;
};

// The places of a phase's steps.
struct PhaseSteps {
  WeightedStep sending;
  std::optional<WeightedStep> silent;
  std::optional<WeightedStep> refreshing;

  [[nodiscard]] std::vector<WeightedStep> all() const {
    std::vector<WeightedStep> steps{sending};
    for (const auto& other : {silent, refreshing}) {
      if (other) {
        steps.push_back(*other);
      }
    }
    return steps;
  }
};

PhaseSteps steps_of(const RunPhase& phase, StepKinds& kinds) {
  using Exchange = StepKinds::Exchange;
  const StepShares shares = step_shares(phase);
  const Exchange exchange = phase.exchanges_models() ? Exchange::models : Exchange::gradients;
  PhaseSteps steps;
  steps.sending = {kinds.add(phase.plan, exchange), shares.sending};
  if (phase.exchanges_models()) {
    steps.silent = {kinds.add(phase.plan, Exchange::none), shares.silent};
  }
  if (phase.refresh) {
    steps.refreshing = {kinds.add(phase.refresh->plan, exchange), shares.refreshing};
  }
  return steps;
}

// `times` steps of the expected kind.
Timing mixture(const std::vector<Timing>& timings, const std::vector<WeightedStep>& steps,
               double times) {
  Timing sum;
  sum.drawn.resize(timings.front().drawn.size());
  for (const WeightedStep& step : steps) {
    const Timing& timing = timings[step.step];
    sum.central += times * step.share * timing.central;
    for (std::size_t d = 0; d < sum.drawn.size(); ++d) {
      sum.drawn[d] += times * step.share * timing.drawn[d];
    }
  }
  return sum;
}

void add(const Timing& part, Timing& sum) {
  sum.drawn.resize(part.drawn.size());
  sum.central += part.central;
  for (std::size_t d = 0; d < part.drawn.size(); ++d) {
    sum.drawn[d] += part.drawn[d];
  }
}

class Race {
 public:
  Race(const Experiment& experiment, const RunSchedule& schedule, const RunOptions& options)
      : options_(options),
        schedule_(schedule),
        prepared_(experiment),
        kinds_(prepared_, schedule),
        compute_sd_(compute_sd(experiment)) {
    for (const RunPhase& phase : schedule.phases) {
      phases_.push_back(steps_of(phase, kinds_));
    }
    run_.band = options.band;
    if (options.observed) {
      run_.observed = condition(experiment, *options.observed);
      belief_ = run_.observed->belief;
    }
    run_.remedy = best_remedy(prepared_, options.limits, belief_.mean);
  }

  RunPayoff run() {
    Ensemble ensemble(competitors(kinds_.steps(), run_.remedy), compute_sd_);
    time(ensemble);
    Timing whole;
    for (std::size_t i = 0; i < phases_.size(); ++i) {
      const RunPhase& phase = schedule_.phases[i];
      const Timing timing = mixture(timings_, phases_[i].all(), phase.steps());
      run_.phases.push_back(assess(phase, phases_[i], timing));
      run_.steps += phase.steps();
      run_.sent += run_.phases.back().sent;
      add(timing, whole);
    }
    run_.iterations = schedule_.iterations();
    run_.time = whole.central;
    run_.time_low = whole.quantile(0.05);
    run_.time_high = whole.quantile(0.95);
    const std::size_t remedy = timings_.size() - 1;
    const Timing dense = mixture(timings_, {{0, 1.0}}, run_.iterations);
    const Timing changed = mixture(timings_, {{remedy, 1.0}}, run_.iterations);
    run_.uncompressed = dense_run(dense, predictions_.front(), run_.iterations);
    run_.with_remedy =
        dense_run(changed, predictions_[remedy], run_.iterations / run_.remedy.batches);
    run_.against_uncompressed = compare(whole, dense, options_.band);
    run_.against_remedy = compare(whole, changed, options_.band);
    return std::move(run_);
  }

 private:
  void time(Ensemble& ensemble) {
    const auto draws = make_draws(options_.draws, options_.seed, ensemble.codecs(), belief_);
    const Draw central{belief_.mean, {}};
    auto drawn = sample_steps(ensemble, draws);
    for (std::size_t i = 0; i < ensemble.size(); ++i) {
      timings_.push_back({ensemble.step(i, central), std::move(drawn[i])});
      predictions_.push_back(evaluate(ensemble.scaled(i, central)));
    }
  }

  [[nodiscard]] PhaseStep phase_step(const WeightedStep& step) const {
    return {step.share, timings_[step.step].central, sent_in(predictions_[step.step])};
  }

  [[nodiscard]] PhasePayoff assess(const RunPhase& phase, const PhaseSteps& steps,
                                   const Timing& timing) const {
    PhasePayoff result;
    result.label = schedule_.plans[phase.plan].label;
    result.steps = phase.steps();
    result.sending = phase_step(steps.sending);
    if (steps.silent) {
      result.silent = phase_step(*steps.silent);
    }
    if (steps.refreshing) {
      result.refreshing = phase_step(*steps.refreshing);
      result.refresh_label = schedule_.plans[phase.refresh->plan].label;
    }
    for (const WeightedStep& step : steps.all()) {
      result.sent += phase.steps() * step.share * sent_in(predictions_[step.step]);
      const Memory& memory = kinds_.memory(step.step);
      result.memory = memory.total() > result.memory.total() ? memory : result.memory;
    }
    result.time = timing.central;
    result.time_low = timing.quantile(0.05);
    result.time_high = timing.quantile(0.95);
    result.step = result.time / result.steps;
    result.step_low = result.time_low / result.steps;
    result.step_high = result.time_high / result.steps;
    const Timing dense = mixture(timings_, {{0, 1.0}}, phase.iterations);
    result.against_uncompressed = compare(timing, dense, options_.band);
    return result;
  }

  [[nodiscard]] static DenseRun dense_run(const Timing& timing, const StepPrediction& step,
                                          double steps) {
    return {timing.central, timing.quantile(0.05), timing.quantile(0.95), steps * sent_in(step)};
  }

  const RunOptions& options_;
  const RunSchedule& schedule_;
  PreparedExperiment prepared_;
  StepKinds kinds_;
  double compute_sd_;
  std::vector<PhaseSteps> phases_;
  Belief belief_;
  std::vector<Timing> timings_;  // of the kinds of steps, then of the remedy for one batch
  std::vector<StepPrediction> predictions_;
  RunPayoff run_;
};

}  // namespace

StepPlan without_gradients(StepPlan plan) {
  for (StagePlan& stage : plan.stages) {
    for (const Bucket& bucket : stage.buckets) {
      stage.optimizer.alone += plan.kind(bucket).decode.update;  // of the rank's own gradients
    }
    stage.buckets.clear();
  }
  return plan;
}

bool RunPayoff::fits() const {
  return std::all_of(phases.begin(), phases.end(),
                     [](const PhasePayoff& phase) { return phase.memory.fits(); });
}

Verdict RunPayoff::verdict() const {
  return fits() ? against_remedy.verdict() : Verdict::does_not_fit;
}

RunPayoff assess_run(const Experiment& experiment, const RunSchedule& schedule,
                     const RunOptions& options) {
  return Race(experiment, schedule, options).run();
}

}  // namespace payoff
