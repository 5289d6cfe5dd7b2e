// SPDX-License-Identifier: Apache-2.0
#include "study/search_answer.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "study/candidate_job.hpp"
#include "study/comparison.hpp"
#include "study/parallel.hpp"
#include "study/spread.hpp"

namespace payoff {
namespace {

class Judge {
 public:
  Judge(const Experiment& experiment, const ClusterState& state, const SearchAnswerOptions& options)
      : experiment_(experiment), state_(state), options_(options) {}

  SearchAnswer run() {
    SearchAnswer answer;
    answer.found = search_layouts(experiment_, options_.search);
    std::vector<Finalist> all{given()};
    for (const auto* found : {&answer.found.uncompressed, &answer.found.compressed}) {
      for (const Candidate& candidate : *found) {
        all.push_back(finalist(candidate));
      }
    }
    for_each_index(
        all.size(), [&](std::size_t i) { simulate(all[i]); }, options_.search.threads);
    timings_ = time(all);
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].step_low = timings_[i].quantile(0.05);
      all[i].step_high = timings_[i].quantile(0.95);
      all[i].against_given = compare(timings_[i], timings_.front(), options_.band);
    }
    const std::size_t end = 1 + answer.found.uncompressed.size();
    const std::vector<std::size_t> plain = in_order(all, 1, end);
    const std::vector<std::size_t> coded = in_order(all, end, all.size());
    if (!plain.empty() && !coded.empty()) {
      answer.gain = compare(timings_[coded.front()], timings_[plain.front()], options_.band);
    }
    answer.given = all.front();
    for (const std::size_t i : plain) {
      answer.uncompressed.push_back(all[i]);
    }
    for (const std::size_t i : coded) {
      answer.compressed.push_back(all[i]);
    }
    if (!plain.empty() && answer.found.is_complete) {
      answer.at_best_layout = at_layout(answer.uncompressed.front().layout);
    }
    return answer;
  }

 private:
  [[nodiscard]] Finalist given() const {
    Finalist job;
    job.layout = experiment_.layout;
    job.candidate.layout = choice_of(job.layout);
    job.label = experiment_.plans.front().label;
    return job;
  }

  [[nodiscard]] Finalist finalist(const Candidate& candidate) const {
    Finalist result;
    result.candidate = candidate;
    result.layout = layout_of(candidate.layout, experiment_.layout);
    result.label = experiment_.plans[candidate.plan].label;
    return result;
  }

  void simulate(Finalist& finalist) const {
    const PreparedExperiment job(in_layout(experiment_, finalist.layout));
    const CompressionPlan& plan = experiment_.plans[finalist.candidate.plan];
    finalist.prediction = job.predict(plan);
    EngineAnswer answer = predict(Engine::simulated, job, plan, state_);
    if (answer.prediction) {
      finalist.simulated = answer.prediction->step;
    } else {
      finalist.reason = std::move(answer.reason);
    }
  }

  // Under the same draws. What the simulator adds to a step, it adds to every draw of it.
  [[nodiscard]] std::vector<Timing> time(const std::vector<Finalist>& all) const {
    std::vector<UncertainPlan> plans;
    std::map<std::string, std::size_t> codecs;
    for (const Finalist& finalist : all) {
      const CompressionPlan& plan = experiment_.plans[finalist.candidate.plan];
      plans.push_back(uncertain_plan(PreparedExperiment(in_layout(experiment_, finalist.layout)),
                                     plan, codecs));
    }
    Ensemble ensemble(std::move(plans), compute_sd(experiment_));
    const std::vector<Draw> draws = make_draws(options_.draws, options_.seed, ensemble.codecs());
    std::vector<std::vector<Seconds>> drawn = sample_steps(ensemble, draws);
    std::vector<Timing> timings;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double ratio = all[i].step() / all[i].prediction.step;
      for (Seconds& step : drawn[i]) {
        step *= ratio;
      }
      timings.push_back({all[i].step(), std::move(drawn[i])});
    }
    return timings;
  }

  // The simplest of those that the fastest does not beat, then the others by their steps.
  [[nodiscard]] std::vector<std::size_t> in_order(std::vector<Finalist>& all, std::size_t begin,
                                                  std::size_t end) const {
    std::vector<std::size_t> order;
    for (std::size_t i = begin; i < end; ++i) {
      order.push_back(i);
    }
    const auto rank = [&](std::size_t i) {
      return std::tuple(all[i].step(), complexity_of(all[i].candidate.layout), i);
    };
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
    for (const std::size_t i : order) {
      const Comparison lead = compare(timings_[order.front()], timings_[i], options_.band);
      all[i].tied = lead.verdict() != Verdict::pays;
    }
    const auto simplest =
        std::min_element(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
          return std::tuple(!all[a].tied, complexity_of(all[a].candidate.layout), rank(a)) <
                 std::tuple(!all[b].tied, complexity_of(all[b].candidate.layout), rank(b));
        });
    if (simplest != order.end()) {
      std::rotate(order.begin(), simplest, simplest + 1);
    }
    return order;
  }

  // The fastest plan that can be used there, against the remedies there.
  [[nodiscard]] std::optional<Payoff> at_layout(const ParallelLayout& layout) const {
    Experiment job = in_layout(experiment_, layout);
    const PreparedExperiment prepared(job);
    const CompressionPlan* best = nullptr;
    Seconds shortest;
    for (std::size_t i = 1; i < experiment_.plans.size(); ++i) {
      const CompressionPlan& plan = experiment_.plans[i];
      if (!is_possible(plan, layout) || !has_effect(plan, prepared)) {
        continue;
      }
      const StepPrediction prediction = prepared.predict(plan);
      if (prediction.memory.fits() && (best == nullptr || prediction.step < shortest)) {
        best = &plan;
        shortest = prediction.step;
      }
    }
    if (best == nullptr) {
      return std::nullopt;
    }
    job.plans.push_back(*best);
    AssessOptions assessed;
    assessed.limits = options_.limits;
    assessed.band = options_.band;
    assessed.draws = options_.draws;
    assessed.seed = options_.seed;
    return assess(job, assessed);
  }

  const Experiment& experiment_;
  const ClusterState& state_;
  const SearchAnswerOptions& options_;
  std::vector<Timing> timings_;
};

}  // namespace

SearchAnswer answer_search(const Experiment& experiment, const ClusterState& state,
                           const SearchAnswerOptions& options) {
  return Judge(experiment, state, options).run();
}

}  // namespace payoff
