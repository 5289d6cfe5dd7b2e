// SPDX-License-Identifier: Apache-2.0
#include "study/advice.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "model/host_codec.hpp"
#include "study/advice_budget.hpp"
#include "study/advice_search.hpp"
#include "study/bucket_choice.hpp"
#include "study/candidate_job.hpp"

namespace payoff {
namespace {

constexpr std::array traffic_kinds{
    Traffic::dp_gradients, Traffic::dp_weights, Traffic::tp_activations, Traffic::pp_activations,
    Traffic::ep_dispatch,  Traffic::ep_combine, Traffic::embeddings};
constexpr std::array placements{Placement::compute_stream, Placement::side_stream,
                                Placement::after_backward};

class Adviser {
 public:
  Adviser(const Experiment& experiment, const AdviceOptions& options)
      : experiment_(experiment),
        options_(options),
        job_(in_layout(experiment, experiment.layout)),
        budget_(experiment, job_, options.budget) {}

  Advice run() {
    collect();
    advice_.combinations = 1;
    for (const TrafficOptions& kind : advice_.kinds) {
      advice_.combinations *= 1 + kind.options.size();
    }
    advice_.is_exact = advice_.combinations <= options_.most_combinations;
    const KindChoice best = chosen();
    compare(by_buckets(best).value_or(plan_of(best)));
    return std::move(advice_);
  }

 private:
  void collect() {
    for (const Traffic traffic : traffic_kinds) {
      kind_ = &advice_.kinds.emplace_back(TrafficOptions{traffic, {}, 0});
      for (std::size_t i = 1; i < experiment_.plans.size(); ++i) {
        add_parts(experiment_.plans[i], traffic);
      }
    }
  }

  // What a plan of the experiment does to one kind of traffic, and its variants.
  void add_parts(const CompressionPlan& plan, Traffic traffic) {
    if (traffic == Traffic::dp_gradients) {
      add_gradients(plan);
      return;
    }
    CompressionPlan part = experiment_.plans.front();
    if (traffic == Traffic::dp_weights && plan.weights) {
      part.weights = plan.weights;
      add(std::move(part));
      return;
    }
    for (const ActivationCompression& of : plan.activations) {
      if (of.traffic != traffic) {
        continue;
      }
      part.activations = {of};
      add(part);
      const auto* shape = std::get_if<TransformerShape>(&experiment_.model);
      for (std::int64_t quarter = 0; shape != nullptr && quarter < 4; ++quarter) {
        part.activations.front().blocks = {quarter * block_count(*shape) / 4,
                                           std::numeric_limits<std::int64_t>::max()};
        add(part);
      }
    }
  }

  // As they are written, and in each place where the codec may run.
  void add_gradients(const CompressionPlan& plan) {
    CompressionPlan part = experiment_.plans.front();
    for (const Method* method : plan.gradient_methods()) {
      part.method = *method;
      part.placement = plan.placement;
      part.overlap = plan.overlap;
      add(part);
      part.overlap = true;
      for (const Placement placement : placements) {
        if (!method->after_backward || placement == Placement::after_backward) {
          part.placement = placement;
          add(part);
        }
      }
    }
  }

  void add(CompressionPlan part) {
    part.label = plan_text(part, files_);
    if (!labels_.insert(part.label).second || !is_possible(part, experiment_.layout) ||
        !has_effect(part, job_)) {
      return;
    }
    TrafficOption option{std::move(part)};
    budget_.measure(option, job_.plan(option.plan));
    if (!budget_.holds(option)) {
      ++kind_->over_budget;
      return;
    }
    kind_->options.push_back(std::move(option));
  }

  [[nodiscard]] CompressionPlan plan_of(const KindChoice& choice) const {
    CompressionPlan plan = experiment_.plans.front();
    for (std::size_t kind = 0; kind < choice.size(); ++kind) {
      if (choice[kind] == 0) {
        continue;
      }
      const CompressionPlan& part = advice_.kinds[kind].options[choice[kind] - 1].plan;
      if (part.method) {
        plan.method = part.method;
        plan.placement = part.placement;
        plan.overlap = part.overlap;
      }
      if (part.weights) {
        plan.weights = part.weights;
      }
      plan.activations.insert(plan.activations.end(), part.activations.begin(),
                              part.activations.end());
    }
    plan.label = plan.compresses() ? plan_text(plan, files_) : plan.label;
    return plan;
  }

  // The same with the methods of gradients chosen for each bucket, where that is worth it.
  [[nodiscard]] std::optional<CompressionPlan> by_buckets(const KindChoice& best) {
    BucketChooser chooser(job_, [&](const CompressionPlan& plan, const StepPlan& planned) {
      return is_allowed(plan, planned);
    });
    const std::vector<BucketWays> ways = ways_beside(best);
    if (ways.empty() || chooser.buckets() < 2) {
      return std::nullopt;
    }
    BucketChoice choice = chooser.choose(ways, options_.most_combinations);
    const Seconds alike = job_.predict(plan_of(best)).step;
    const bool is_taken =
        choice.plan.chooses_buckets() && (1.0 + options_.band) * choice.step < alike;
    advice_.buckets = {chooser.buckets(), choice.evaluated, choice.is_exact, is_taken};
    if (!is_taken) {
      return std::nullopt;
    }
    choice.plan.label = plan_text(choice.plan, files_);
    return std::move(choice.plan);
  }

  // One for each place where codecs of gradients may run.
  [[nodiscard]] std::vector<BucketWays> ways_beside(KindChoice choice) const {
    choice.front() = 0;
    std::vector<BucketWays> ways;
    for (const Placement placement : placements) {
      BucketWays way{plan_of(choice), {}};
      way.base.placement = placement;
      for (const TrafficOption& option : advice_.kinds.front().options) {
        if (option.plan.placement == placement && option.plan.overlap) {
          way.methods.push_back(*option.plan.method);
        }
      }
      if (!way.methods.empty()) {
        ways.push_back(std::move(way));
      }
    }
    return ways;
  }

  // And its codecs of the host can share it.
  [[nodiscard]] bool is_allowed(const CompressionPlan& plan, const StepPlan& planned) const {
    return !plan.method || (budget_.holds_gradients(plan, planned, job_) &&
                            check_host(plan, experiment_.cluster, experiment_.layout, "").empty());
  }

  // One number a kind of traffic. Longer than any step is what does not fit the memory.
  [[nodiscard]] KindChoice chosen() {
    KindChoice options;
    for (const TrafficOptions& kind : advice_.kinds) {
      options.push_back(kind.options.size());
    }
    const KindChoice none(options.size());
    const StepOfChoice step_of = [&](const KindChoice& choice) {
      ++advice_.evaluated;
      const StepPrediction prediction = job_.predict(plan_of(choice));
      return prediction.memory.fits() || choice == none
                 ? prediction.step
                 : std::numeric_limits<double>::infinity() * 1_s;
    };
    return advice_.is_exact ? best_of_all(options, step_of) : improved_by_kinds(options, step_of);
  }

  // The fastest plan that the experiment has itself, as it is written.
  [[nodiscard]] std::optional<CompressionPlan> all_or_nothing() const {
    std::optional<CompressionPlan> best;
    Seconds shortest;
    for (std::size_t i = 1; i < experiment_.plans.size(); ++i) {
      const CompressionPlan& plan = experiment_.plans[i];
      if (!is_possible(plan, experiment_.layout) || !has_effect(plan, job_) ||
          !is_within_budget(plan)) {
        continue;
      }
      const StepPrediction prediction = job_.predict(plan);
      if (prediction.memory.fits() && (!best || prediction.step < shortest)) {
        shortest = prediction.step;
        best = plan;
      }
    }
    return best;
  }

  // Each of its parts is an option.
  [[nodiscard]] bool is_within_budget(const CompressionPlan& plan) const {
    const auto is_option = [&](Traffic traffic, const CompressionPlan& part) {
      const auto kind =
          std::find_if(advice_.kinds.begin(), advice_.kinds.end(),
                       [&](const TrafficOptions& of) { return of.traffic == traffic; });
      const std::vector<TrafficOption>& options = kind->options;
      const std::string label = plan_text(part, files_);
      return std::any_of(options.begin(), options.end(),
                         [&](const TrafficOption& option) { return option.plan.label == label; });
    };
    const CompressionPlan gradients = gradients_of(plan);
    bool within =
        !plan.method || (plan.chooses_buckets() ? is_allowed(gradients, job_.plan(gradients))
                                                : is_option(Traffic::dp_gradients, gradients));
    CompressionPlan part = experiment_.plans.front();
    part.weights = plan.weights;
    within = within && (!plan.weights || is_option(Traffic::dp_weights, part));
    part.weights.reset();
    for (const ActivationCompression& of : plan.activations) {
      part.activations = {of};
      within = within && is_option(of.traffic, part);
    }
    return within;
  }

  // A plan as it is written is never passed over for a slower one: where there are too many ways to
  // price all, the search may have missed it.
  void compare(CompressionPlan found) {
    advice_.compared = in_layout(experiment_, experiment_.layout);
    advice_.step = job_.predict(found).step;
    std::vector<CompressionPlan>& plans = advice_.compared.plans;
    if (auto whole = all_or_nothing()) {
      const Seconds step = job_.predict(*whole).step;
      if (step < advice_.step) {
        advice_.step = step;
        found = *whole;
        found.label = plan_text(found, files_);
      }
      plans.push_back(*std::move(whole));
    }
    if (found.compresses()) {
      if (plans.size() > 1 && plan_text(plans.back(), files_) == found.label) {
        plans.pop_back();
      }
      plans.push_back(std::move(found));
      advice_.fastest = plans.size() - 1;
    }
    AssessOptions assessed;
    assessed.limits = options_.limits;
    assessed.band = std::max(options_.band, options_.budget.inflation);
    assessed.draws = options_.draws;
    assessed.seed = options_.seed;
    advice_.payoff = assess(advice_.compared, assessed);
    advice_.advised = is_worth_it(advice_.payoff.plans[advice_.fastest]) ? advice_.fastest : 0;
  }

  // At least as likely faster than the best job without compression as slower.
  [[nodiscard]] static bool is_worth_it(const PlanPayoff& plan) {
    const Verdict verdict = Payoff::verdict_of(plan);
    return verdict == Verdict::pays ||
           (verdict == Verdict::too_close_to_call && plan.against_remedy.speedup > 1.0);
  }

  const Experiment& experiment_;
  const AdviceOptions& options_;
  PreparedExperiment job_;
  AdviceBudget budget_;
  OwnFiles files_ = own_files(experiment_);
  std::set<std::string> labels_;
  TrafficOptions* kind_{};
  Advice advice_;
};

}  // namespace

Advice advise(const Experiment& experiment, const AdviceOptions& options) {
  return Adviser(experiment, options).run();
}

}  // namespace payoff
