// SPDX-License-Identifier: Apache-2.0
#include "study/bucket_choice.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

namespace payoff {
namespace {

constexpr std::size_t dense = 0;
constexpr double rounding = 1e-9;
// Each is improved to its end; the second best start often ends better than the best.
constexpr std::size_t improved_starts = 3;

// The buckets of one method, neighbours as ranges.
BucketSet buckets_of(const std::vector<std::size_t>& assignment, std::size_t method) {
  BucketSet set;
  for (std::size_t i = 0; i < assignment.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i);
    if (assignment[i] != method) {
      continue;
    }
    if (!set.ranges.empty() && set.ranges.back().last + 1 == number) {
      set.ranges.back().last = number;
    } else {
      set.ranges.push_back({number, number});
    }
  }
  return set;
}

// (1 + methods) ^ buckets, of all ways; no more than `most`.
std::uint64_t count_of(const std::vector<BucketWays>& ways, std::size_t buckets,
                       std::uint64_t most) {
  std::uint64_t count = 0;
  for (const BucketWays& way : ways) {
    std::uint64_t of_way = 1;
    for (std::size_t i = 0; i < buckets && of_way <= most; ++i) {
      of_way *= way.methods.size() + 1;
    }
    count = std::min(most + 1, count + of_way);
  }
  return count;
}

// 1, 2, 3 ... a quarter more each time, up to all.
std::vector<std::size_t> sizes_up_to(std::size_t all) {
  std::vector<std::size_t> sizes;
  for (std::size_t size = 1; size < all; size += std::max<std::size_t>(1, size / 4)) {
    sizes.push_back(size);
  }
  sizes.push_back(all);
  return sizes;
}

}  // namespace

BucketChooser::BucketChooser(const PreparedExperiment& job, Allowed allowed)
    : job_(job), allowed_(std::move(allowed)), elements_(job.most_buckets()) {
  const StepPlan plan = job.plan(job.experiment().plans.front());
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const std::vector<Bucket>& buckets = plan.buckets(s);
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      elements_[i] += plan.kind(buckets[i]).elements;
    }
  }
}

CompressionPlan BucketChooser::plan_of(const BucketWays& ways, const Assignment& of) {
  CompressionPlan plan = ways.base;
  for (std::size_t method = 1; method <= ways.methods.size(); ++method) {
    BucketSet buckets = buckets_of(of, method);
    if (buckets.ranges.empty()) {
      continue;
    }
    if (plan.method) {
      plan.others.push_back({ways.methods[method - 1], std::move(buckets)});
      continue;
    }
    const bool all = std::all_of(of.begin(), of.end(), [&](std::size_t o) { return o == method; });
    plan.method = ways.methods[method - 1];
    plan.buckets = all ? BucketSet{} : std::move(buckets);
  }
  return plan;
}

// Longer than any step where it is not allowed, or does not fit the memory.
Seconds BucketChooser::step_of(const BucketWays& ways, const Assignment& of) {
  ++evaluated_;
  const CompressionPlan plan = plan_of(ways, of);
  const StepPlan planned = job_.plan(plan);
  const Seconds never = std::numeric_limits<double>::infinity() * 1_s;
  if (!allowed_(plan, planned)) {
    return never;
  }
  const StepPrediction prediction = job_.predict(planned);
  return prediction.memory.fits() || !plan.method ? prediction.step : never;
}

BucketChooser::Candidate BucketChooser::best_of_all(const std::vector<BucketWays>& ways) {
  Candidate best;
  for (const BucketWays& way : ways) {
    Assignment of(buckets(), dense);
    const auto next = [&] {
      for (std::size_t& each : of) {
        if (each++ < way.methods.size()) {
          return true;
        }
        each = dense;
      }
      return false;
    };
    do {
      const Seconds step = step_of(way, of);
      if (best.ways == nullptr || step < best.step) {
        best = {&way, of, step};
      }
    } while (next());
  }
  return best;
}

// By one method the largest, the first, the last so many; and nothing.
std::vector<BucketChooser::Candidate> BucketChooser::starts(const BucketWays& ways) {
  std::vector<std::size_t> in_order(buckets());
  std::iota(in_order.begin(), in_order.end(), std::size_t{0});
  std::vector<std::size_t> largest = in_order;
  std::stable_sort(largest.begin(), largest.end(),
                   [&](std::size_t a, std::size_t b) { return elements_[a] > elements_[b]; });
  const std::vector<std::size_t> backwards(in_order.rbegin(), in_order.rend());
  const std::array<const std::vector<std::size_t>*, 3> orders{&largest, &in_order, &backwards};
  std::vector<Candidate> found;
  const auto add = [&](Assignment of) {
    const Seconds step = step_of(ways, of);
    found.push_back({&ways, std::move(of), step});
  };
  add(Assignment(buckets(), dense));
  for (std::size_t method = 1; method <= ways.methods.size(); ++method) {
    for (const auto* order : orders) {
      for (const std::size_t size : sizes_up_to(buckets())) {
        Assignment of(buckets(), dense);
        std::for_each(order->begin(), order->begin() + static_cast<std::ptrdiff_t>(size),
                      [&](std::size_t bucket) { of[bucket] = method; });
        add(std::move(of));
      }
    }
  }
  return found;
}

// The largest first, until a round over all buckets changes nothing.
void BucketChooser::improve(Candidate& candidate) {
  std::vector<std::size_t> order(buckets());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return elements_[a] > elements_[b]; });
  for (bool changes = true; changes;) {
    changes = false;
    for (const std::size_t bucket : order) {
      const std::size_t before = candidate.of[bucket];
      std::size_t best = before;
      for (std::size_t method = 0; method <= candidate.ways->methods.size(); ++method) {
        if (method == before) {
          continue;
        }
        candidate.of[bucket] = method;
        const Seconds step = step_of(*candidate.ways, candidate.of);
        if (step < (1.0 - rounding) * candidate.step) {
          candidate.step = step;
          best = method;
        }
      }
      candidate.of[bucket] = best;
      changes = changes || best != before;
    }
  }
}

// Buckets whose compression gains nothing.
void BucketChooser::thin_out(Candidate& candidate) {
  for (std::size_t& method : candidate.of) {
    const std::size_t before = method;
    if (before == dense) {
      continue;
    }
    method = dense;
    const Seconds step = step_of(*candidate.ways, candidate.of);
    if (step <= (1.0 + rounding) * candidate.step) {
      candidate.step = std::min(candidate.step, step);
    } else {
      method = before;
    }
  }
}

BucketChoice BucketChooser::choose(const std::vector<BucketWays>& ways,
                                   std::uint64_t most_choices) {
  evaluated_ = 0;
  BucketChoice choice;
  choice.is_exact = count_of(ways, buckets(), most_choices) <= most_choices;
  Candidate best;
  if (choice.is_exact) {
    best = best_of_all(ways);
  } else {
    std::vector<Candidate> all;
    for (const BucketWays& way : ways) {
      std::vector<Candidate> found = starts(way);
      std::move(found.begin(), found.end(), std::back_inserter(all));
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Candidate& a, const Candidate& b) { return a.step < b.step; });
    all.resize(std::min(all.size(), improved_starts));
    for (Candidate& candidate : all) {
      improve(candidate);
    }
    best = *std::min_element(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
      return a.step < b.step;
    });
  }
  thin_out(best);
  choice.plan = plan_of(*best.ways, best.of);
  choice.step = best.step;
  choice.evaluated = evaluated_;
  return choice;
}

}  // namespace payoff
