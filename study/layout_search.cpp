// SPDX-License-Identifier: Apache-2.0
#include "study/layout_search.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "model/experiment_check.hpp"
#include "study/candidate_job.hpp"
#include "study/ordered_work.hpp"
#include "study/step_bound.hpp"

namespace payoff {
namespace {

// A layout that is sound and may fit.
struct Bounded {
  LayoutChoice layout;
  StepBound bound;
  std::uint64_t order{};
};

// What is found of the layouts with the same parts.
struct Found {
  SearchCounts counts;
  std::vector<Bounded> layouts;
};

// The best few seen so far, the first one first, of different layouts: plans that differ little
// would else leave no place for another layout.
class Best {
 public:
  explicit Best(std::size_t most) : most_(most) {}

  void add(const Candidate& candidate) {
    const auto same =
        std::find_if(candidates_.begin(), candidates_.end(),
                     [&](const Candidate& other) { return other.order == candidate.order; });
    if (same != candidates_.end()) {
      if (goes_before(*same, candidate)) {
        return;
      }
      candidates_.erase(same);
    }
    const auto place =
        std::upper_bound(candidates_.begin(), candidates_.end(), candidate, goes_before);
    candidates_.insert(place, candidate);
    if (candidates_.size() > most_) {
      candidates_.pop_back();
    }
  }
  // No candidate that takes longer comes in.
  [[nodiscard]] Seconds limit() const {
    return candidates_.size() < most_ ? std::numeric_limits<double>::infinity() * 1_s
                                      : candidates_.back().step;
  }
  [[nodiscard]] const std::vector<Candidate>& candidates() const { return candidates_; }

 private:
  std::size_t most_;
  std::vector<Candidate> candidates_;
};

class LayoutSearch {
 public:
  LayoutSearch(const Experiment& experiment, const SearchOptions& options)
      : experiment_(experiment),
        options_(options),
        space_(layout_space(experiment, options.keep)),
        uncompressed_(options.finalists),
        compressed_(options.finalists) {
    for (std::size_t plan = 1; plan < experiment.plans.size(); ++plan) {
      any_activations_ = any_activations_ || !experiment.plans[plan].activations.empty();
    }
  }

  SearchResult run() {
    const bool bounded = bound_all();
    const bool complete = price_all() && bounded;
    return {counts_, uncompressed_.candidates(), compressed_.candidates(), complete};
  }

 private:
  // What a batch of layouts has in common, whatever the number of threads.
  static constexpr std::size_t batch_size = 32;

  [[nodiscard]] std::size_t plans() const { return experiment_.plans.size(); }

  void report(std::uint64_t decided) const {
    if (options_.progress) {
      options_.progress(decided, counts_.considered);
    }
  }

  // Calls `work` for every number below `count` on all threads, and `merge` in their order; false
  // where it was stopped.
  template <typename Work, typename Merge>
  [[nodiscard]] bool run_all(std::size_t count, const std::atomic<bool>* stop, const Work& work,
                             const Merge& merge) const {
    OrderedWork all;
    all.end = count;
    all.compute = [&](std::uint64_t i) {
      work(static_cast<std::size_t>(i));
      return std::string();
    };
    all.emit = [&](std::uint64_t i, const std::string&) { merge(static_cast<std::size_t>(i)); };
    all.stop = stop;
    all.threads = options_.threads;
    return run_in_order(all) == count;
  }

  [[nodiscard]] bool bound_all() {
    const std::vector<ModelParts> parts = model_parts(space_);
    std::vector<Found> found(parts.size());
    const bool complete = run_all(
        parts.size(), options_.stop, [&](std::size_t i) { found[i] = bound_layouts(parts[i]); },
        [&](std::size_t i) {
          for (Bounded& layout : found[i].layouts) {
            layout.order += counts_.layouts;
          }
          counts_ += found[i].counts;
          layouts_.insert(layouts_.end(), found[i].layouts.begin(), found[i].layouts.end());
          found[i] = {};
          report(counts_.invalid + counts_.no_memory);
        });
    std::sort(layouts_.begin(), layouts_.end(), [this](const Bounded& a, const Bounded& b) {
      return std::tuple(least(a), a.order) < std::tuple(least(b), b.order);
    });
    return complete;
  }

  // Refuses what is no layout or does not fit; the others get their bounds.
  [[nodiscard]] Found bound_layouts(const ModelParts& parts) const {
    Experiment job = in_layout(experiment_, with_parts(space_.given, parts));
    std::optional<StepBounds> bounds;  // of the first sound layout on
    Found found;
    SoundParts checked;
    checked.training = false;  // sound in the job as given
    checked.plans = false;     // there are none
    for_each_choice(space_, parts, [&](const LayoutChoice& choice) {
      const std::uint64_t order = found.counts.layouts++;
      found.counts.considered += plans();
      job.layout = layout_of(choice, space_.given);
      if (!check(job, checked).empty()) {
        found.counts.invalid += plans();
        return;
      }
      if (!bounds) {
        bounds.emplace(job);
      }
      const std::uint64_t possible = possible_plans(job.layout);
      found.counts.invalid += plans() - possible;
      if (!bounds->memory(job.layout).fits()) {
        found.counts.no_memory += possible;
        return;
      }
      found.layouts.push_back({choice, bounds->step(job.layout), order});
    });
    return found;
  }

  [[nodiscard]] std::uint64_t possible_plans(const ParallelLayout& layout) const {
    return static_cast<std::uint64_t>(
        std::count_if(experiment_.plans.begin(), experiment_.plans.end(),
                      [&](const CompressionPlan& plan) { return is_possible(plan, layout); }));
  }

  [[nodiscard]] Seconds least(const Bounded& layout) const {
    return any_activations_ ? layout.bound.without_sums : layout.bound.step;
  }
  [[nodiscard]] static Seconds bound_of(const Bounded& layout, const CompressionPlan& plan) {
    return plan.activations.empty() ? layout.bound.step : layout.bound.without_sums;
  }

  // In the order of their bounds, until no bound is below what has been found. Limits change
  // between batches only, so that every number of threads prices the same. The first batch is
  // priced in any case: who stops a search gets the best of what it knew.
  [[nodiscard]] bool price_all() {
    struct Priced {
      SearchCounts counts;
      std::vector<Candidate> candidates;
    };
    std::size_t next = 0;
    while (next < layouts_.size() &&
           least(layouts_[next]) <= std::max(uncompressed_.limit(), compressed_limit())) {
      const std::size_t count = std::min(batch_size, layouts_.size() - next);
      std::vector<Priced> priced(count);
      const std::pair limits{uncompressed_.limit(), compressed_limit()};
      const bool complete = run_all(
          count, next == 0 ? nullptr : options_.stop,
          [&](std::size_t i) {
            price(layouts_[next + i], limits, priced[i].counts, priced[i].candidates);
          },
          [&](std::size_t i) {
            counts_ += priced[i].counts;
            for (const Candidate& candidate : priced[i].candidates) {
              (candidate.plan == 0 ? uncompressed_ : compressed_).add(candidate);
            }
          });
      if (!complete) {
        return false;
      }
      next += count;
      report(counts_.invalid + counts_.no_memory + counts_.pruned + counts_.priced);
    }
    for (; next < layouts_.size(); ++next) {
      counts_.pruned += possible_plans(layout_of(layouts_[next].layout, space_.given));
    }
    return true;
  }

  // Without a plan there is nothing to find.
  [[nodiscard]] Seconds compressed_limit() const {
    return plans() == 1 ? 0_s : compressed_.limit();
  }

  void price(const Bounded& bounded, const std::pair<Seconds, Seconds>& limits,
             SearchCounts& counts, std::vector<Candidate>& candidates) const {
    const ParallelLayout layout = layout_of(bounded.layout, space_.given);
    std::vector<std::size_t> wanted;
    for (std::size_t i = 0; i < plans(); ++i) {
      const CompressionPlan& plan = experiment_.plans[i];
      if (!is_possible(plan, layout)) {
        continue;
      }
      if (bound_of(bounded, plan) > (i == 0 ? limits.first : limits.second)) {
        ++counts.pruned;
      } else {
        wanted.push_back(i);
      }
    }
    if (wanted.empty()) {
      return;
    }
    const PreparedExperiment job(in_layout(experiment_, layout));
    for (const std::size_t i : wanted) {
      const CompressionPlan& plan = experiment_.plans[i];
      if (i > 0 && !has_effect(plan, job)) {
        ++counts.invalid;
        continue;
      }
      const StepPrediction prediction = job.predict(plan);
      if (!prediction.memory.fits()) {
        ++counts.no_memory;
        continue;
      }
      ++counts.priced;
      candidates.push_back(
          {bounded.layout, i, prediction.step, prediction.memory.total(), bounded.order});
    }
  }

  const Experiment& experiment_;
  const SearchOptions& options_;
  LayoutSpace space_;
  bool any_activations_{};
  SearchCounts counts_;
  std::vector<Bounded> layouts_;
  Best uncompressed_;
  Best compressed_;
};

}  // namespace

SearchCounts& SearchCounts::operator+=(const SearchCounts& other) {
  layouts += other.layouts;
  considered += other.considered;
  invalid += other.invalid;
  no_memory += other.no_memory;
  pruned += other.pruned;
  priced += other.priced;
  return *this;
}

bool goes_before(const Candidate& a, const Candidate& b) {
  return std::tuple(a.step, complexity_of(a.layout), a.order, a.plan) <
         std::tuple(b.step, complexity_of(b.layout), b.order, b.plan);
}

SearchResult search_layouts(const Experiment& experiment, const SearchOptions& options) {
  return LayoutSearch(experiment, options).run();
}

}  // namespace payoff
