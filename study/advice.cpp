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
#include "study/bucket_choice.hpp"
#include "study/candidate_job.hpp"

namespace payoff {
namespace {

constexpr std::array traffic_kinds{Traffic::dp_gradients,   Traffic::tp_activations,
                                   Traffic::pp_activations, Traffic::ep_dispatch,
                                   Traffic::ep_combine,     Traffic::embeddings};
constexpr std::array placements{Placement::compute_stream, Placement::side_stream,
                                Placement::after_backward};

// One number a kind: 0 for none, else the option after it.
using Choice = std::array<std::size_t, traffic_kinds.size()>;

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
    const Choice best = advice_.is_exact ? best_of_all() : improved();
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
    CompressionPlan part = experiment_.plans.front();
    if (traffic == Traffic::dp_gradients) {
      for (const Method* method : plan.gradient_methods()) {
        part.method = *method;
        for (const Placement placement : placements) {
          part.placement = placement;
          add(part);
        }
      }
      part.method.reset();
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

  [[nodiscard]] CompressionPlan plan_of(const Choice& choice) const {
    CompressionPlan plan = experiment_.plans.front();
    for (std::size_t kind = 0; kind < choice.size(); ++kind) {
      if (choice[kind] == 0) {
        continue;
      }
      const CompressionPlan& part = advice_.kinds[kind].options[choice[kind] - 1].plan;
      if (part.method) {
        plan.method = part.method;
        plan.placement = part.placement;
      }
      plan.activations.insert(plan.activations.end(), part.activations.begin(),
                              part.activations.end());
    }
    plan.label = plan.compresses() ? plan_text(plan, files_) : plan.label;
    return plan;
  }

  // The same with the methods of gradients chosen for each bucket, where that is worth it.
  [[nodiscard]] std::optional<CompressionPlan> by_buckets(const Choice& best) {
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
  [[nodiscard]] std::vector<BucketWays> ways_beside(Choice choice) const {
    choice.front() = 0;
    std::vector<BucketWays> ways;
    for (const Placement placement : placements) {
      BucketWays way{plan_of(choice), {}};
      way.base.placement = placement;
      for (const TrafficOption& option : advice_.kinds.front().options) {
        if (option.plan.placement == placement) {
          way.methods.push_back(*option.plan.method);
        }
      }
      if (!way.methods.empty()) {
        ways.push_back(std::move(way));
      }
    }
    return ways;
  }

  // Within the budget as a whole, as each of its methods is for all buckets; and its codecs of the
  // host can share it.
  [[nodiscard]] bool is_allowed(const CompressionPlan& plan, const StepPlan& planned) const {
    if (!plan.method) {
      return true;
    }
    TrafficOption option{plan};
    option.plan.activations.clear();
    budget_.measure(option, plan.activations.empty() ? planned : job_.plan(option.plan));
    return budget_.holds(option) &&
           check_host(plan, experiment_.cluster, experiment_.layout, "").empty();
  }

  // Longer than any step where it does not fit the memory.
  [[nodiscard]] Seconds step_of(const Choice& choice) {
    ++advice_.evaluated;
    const StepPrediction prediction = job_.predict(plan_of(choice));
    return prediction.memory.fits() || choice == Choice{}
               ? prediction.step
               : std::numeric_limits<double>::infinity() * 1_s;
  }

  // The first of equals: none goes before its options, so that nothing is compressed for nothing.
  [[nodiscard]] Choice best_of_all() {
    Choice best{};
    Seconds shortest = step_of(best);
    Choice choice{};
    const auto next = [&] {
      for (std::size_t kind = choice.size(); kind-- > 0;) {
        if (choice[kind]++ < advice_.kinds[kind].options.size()) {
          return true;
        }
        choice[kind] = 0;
      }
      return false;
    };
    while (next()) {
      const Seconds step = step_of(choice);
      if (step < shortest) {
        shortest = step;
        best = choice;
      }
    }
    return best;
  }

  // From nothing compressed, the best change of one kind until none makes the step shorter.
  [[nodiscard]] Choice improved() {
    Choice best{};
    Seconds shortest = step_of(best);
    for (bool changes = true; changes;) {
      changes = false;
      const Choice from = best;
      for (std::size_t kind = 0; kind < from.size(); ++kind) {
        Choice choice = from;
        for (std::size_t option = 0; option <= advice_.kinds[kind].options.size(); ++option) {
          choice[kind] = option;
          const Seconds step = choice == from ? shortest : step_of(choice);
          if (step < shortest) {
            shortest = step;
            best = choice;
            changes = true;
          }
        }
      }
    }
    return best;
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
    const auto is_option = [&](std::size_t kind, const CompressionPlan& part) {
      const std::vector<TrafficOption>& options = advice_.kinds[kind].options;
      const std::string label = plan_text(part, files_);
      return std::any_of(options.begin(), options.end(),
                         [&](const TrafficOption& option) { return option.plan.label == label; });
    };
    CompressionPlan gradients = plan;
    gradients.activations.clear();
    bool within =
        !plan.method || (plan.chooses_buckets() ? is_allowed(gradients, job_.plan(gradients))
                                                : is_option(0, gradients));
    for (const ActivationCompression& of : plan.activations) {
      CompressionPlan part = experiment_.plans.front();
      part.activations = {of};
      const auto* kind = std::find(traffic_kinds.begin(), traffic_kinds.end(), of.traffic);
      within = within && is_option(static_cast<std::size_t>(kind - traffic_kinds.begin()), part);
    }
    return within;
  }

  void compare(const CompressionPlan& advised) {
    advice_.compared = in_layout(experiment_, experiment_.layout);
    advice_.step = job_.predict(advised).step;
    std::vector<CompressionPlan>& plans = advice_.compared.plans;
    if (auto whole = all_or_nothing()) {
      plans.push_back(*std::move(whole));
    }
    if (advised.compresses()) {
      if (plans.size() > 1 && plan_text(plans.back(), files_) == advised.label) {
        plans.pop_back();
      }
      plans.push_back(advised);
      advice_.advised = plans.size() - 1;
    }
    AssessOptions assessed;
    assessed.limits = options_.limits;
    assessed.band = std::max(options_.band, options_.budget.inflation);
    assessed.draws = options_.draws;
    assessed.seed = options_.seed;
    advice_.payoff = assess(advice_.compared, assessed);
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
