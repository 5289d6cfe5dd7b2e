// SPDX-License-Identifier: Apache-2.0
#include "study/next_measurement.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "study/plan_messages.hpp"
#include "study/scaled_job.hpp"
#include "study/spread.hpp"

namespace payoff {
namespace {

using MeasurementKind = PossibleMeasurement::Kind;

// Draws that weights are put on: more than an interval needs.
constexpr std::size_t draw_count = 512;

// Relative, one standard deviation; assumed. A step as --observed takes it; a kernel or a message
// is repeated as often as one likes, and what is left is how much machines of one kind differ.
constexpr double step_noise = 0.02;
constexpr double kernel_noise = 0.03;
constexpr double beside_noise = 0.1;  // of a standard deviation of the pairs

class Possibilities {
 public:
  Possibilities(const Experiment& experiment, const Payoff& payoff, std::size_t plan)
      : experiment_(experiment),
        payoff_(payoff),
        prepared_(experiment),
        plan_(prepared_.plan(experiment.plans[plan])),
        codecs_(uncertain_codecs(experiment.plans[plan], latents_)) {
    Ensemble contest({{plan_, codecs_}, {payoff.remedy.plan, {}, payoff.remedy.batches}},
                     compute_sd(experiment));
    const Belief belief = payoff.observed ? payoff.observed->belief : Belief{};
    draws_ = make_draws(draw_count, 1, contest.codecs(), belief);
    for (const Draw& draw : draws_) {
      speedups_.push_back(contest.step(1, draw) / contest.step(0, draw));
    }
  }

  NextMeasurements run() {
    add_steps();
    add_compute();
    add_messages();
    add_codecs();
    add({MeasurementKind::beside,
         0,
         0,
         {},
         {shown([](const Draw& draw) { return draw.pairs; })},
         {beside_noise}});
    result_.now = expected_outcome({}, speedups_, payoff_.band);
    std::stable_sort(result_.measurements.begin(), result_.measurements.end(),
                     [](const NextMeasurement& a, const NextMeasurement& b) {
                       return a.expected.spread_ratio < b.expected.spread_ratio;
                     });
    return std::move(result_);
  }

 private:
  template <class Show>
  [[nodiscard]] std::vector<double> shown(Show show) const {
    std::vector<double> all;
    all.reserve(draws_.size());
    for (const Draw& draw : draws_) {
      all.push_back(show(draw));
    }
    return all;
  }

  void add(const PossibleMeasurement& possible) {
    result_.measurements.push_back({possible.kind, possible.dp, possible.nodes, possible.unknown,
                                    expected_outcome(possible, speedups_, payoff_.band)});
  }

  void add_steps() {
    const ScalingStep step = scaling_step(experiment_);
    const auto most = std::int64_t{experiment_.cluster.nodes};
    for (std::int64_t nodes = step.nodes;; nodes = std::min(4 * nodes, most)) {
      if (nodes % step.nodes == 0) {
        add_step(static_cast<int>(nodes), static_cast<int>(nodes / step.nodes) * step.replicas);
      }
      if (nodes >= most) {
        return;
      }
    }
  }

  void add_step(int nodes, int dp) {
    const std::optional<Experiment> job =
        dp == experiment_.layout.dp ? std::optional(experiment_) : with_dp(experiment_, dp);
    if (!job) {
      return;
    }
    const PreparedExperiment prepared(*job);
    if (!prepared.predict(job->plans.front()).memory.fits()) {
      return;
    }
    Ensemble ensemble({{prepared.plan(job->plans.front())}}, compute_sd(*job));
    PossibleMeasurement step{MeasurementKind::step, dp, nodes, {}, {{}}, {step_noise}};
    PossibleMeasurement profile{MeasurementKind::profile, dp, nodes, {}, {{}, {}},
                                {step_noise, step_noise}};
    for (const Draw& draw : draws_) {
      const StepPrediction prediction = evaluate(ensemble.scaled(0, {draw.shared, {}}));
      step.shown[0].push_back(std::log(prediction.step / 1_s));
      profile.shown[1].push_back(exposed_communication(prediction.waterfall) / prediction.step);
    }
    profile.shown[0] = step.shown[0];
    add(step);
    add(profile);
  }

  void add_compute() {
    if (const double sd = compute_sd(experiment_); sd > 0) {
      add({MeasurementKind::compute,
           0,
           0,
           Unknown::compute,
           {shown([](const Draw& draw) { return draw.shared[latent::compute]; })},
           {kernel_noise / sd}});
    }
  }

  // One run of nccl-tests for each kind of message that the strategy or its rival sends.
  void add_messages() {
    std::map<Unknown, std::pair<Message, Seconds>> longest;
    const auto note = [&longest](const Message& message) {
      auto& [kept, alone] = longest[static_cast<Unknown>(message_latent(message))];
      if (message.alone > alone) {
        kept = message;
        alone = message.alone;
      }
    };
    for_each_message(plan_, note);
    for_each_message(payoff_.remedy.plan, note);
    for (const auto& [unknown, of_kind] : longest) {
      const Message& message = of_kind.first;
      if (of_kind.second > 0_s && message.relative_sd > 0) {
        add({MeasurementKind::messages,
             0,
             0,
             unknown,
             {shown([&](const Draw& draw) { return message_deviation(message, draw.shared); })},
             {kernel_noise / message.relative_sd}});
      }
    }
  }

  // All codecs of the strategy at once.
  void add_codecs() {
    PossibleMeasurement possible{MeasurementKind::codec, 0, 0, Unknown::codec, {}, {}};
    for (const UncertainCodec& codec : codecs_) {
      if (codec.sd > 0) {
        possible.shown.push_back(
            shown([&](const Draw& draw) { return draw.codecs[codec.latent]; }));
        possible.noise.push_back(kernel_noise / codec.sd);
      }
    }
    if (!possible.shown.empty()) {
      add(possible);
    }
  }

  const Experiment& experiment_;
  const Payoff& payoff_;
  PreparedExperiment prepared_;
  StepPlan plan_;
  std::map<std::string, std::size_t> latents_;
  std::vector<UncertainCodec> codecs_;
  std::vector<Draw> draws_;
  std::vector<double> speedups_;
  NextMeasurements result_;
};

}  // namespace

NextMeasurements next_measurements(const Experiment& experiment, const Payoff& payoff,
                                   std::size_t plan) {
  return Possibilities(experiment, payoff, plan).run();
}

}  // namespace payoff
