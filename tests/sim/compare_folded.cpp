// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/compare_folded.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>

#include "model/units_text.hpp"
#include "tests/catch.hpp"

namespace payoff::test {

using sim::BuiltPlatform;

std::string unequal_links(const sim::SimulatedStep& folded, const BuiltPlatform& classes,
                          const sim::SimulatedStep& whole, const BuiltPlatform& all) {
  REQUIRE(classes.class_of_link.size() == all.class_of_link.size());
  const auto differ = [](double a, double b) { return std::abs(a - b) > 1e-9 * std::max(a, b); };
  for (std::size_t i = 0; i < all.class_of_link.size(); ++i) {
    const sim::LinkUse& of_class = folded.links[classes.class_of_link[i]];
    const sim::LinkUse& own = whole.links[all.class_of_link[i]];
    if (of_class.max_delay != own.max_delay || differ(of_class.bytes.si, own.bytes.si) ||
        differ(of_class.utilization, own.utilization)) {
      return own.name + ": " + to_text(of_class.bytes) + ", " + to_text(of_class.max_delay) +
             " late folded, " + to_text(own.bytes) + ", " + to_text(own.max_delay) + " unfolded";
    }
  }
  return {};
}

namespace {

void add(const sim::FoldReport& fold, FoldingSum& sum) {
  ++sum.jobs;
  sum.ranks += fold.ranks;
  sum.places += fold.places;
  sum.links += fold.links;
  sum.link_classes += fold.link_classes;
  sum.sends += fold.sends;
  sum.send_classes += fold.send_classes;
}

void print(const std::string& what, const FoldingSum& sum) {
  std::printf("folding: %-11s %4d jobs, %.2f classes for each rank, %.2f for each link\n",
              what.c_str(), sum.jobs,
              static_cast<double>(sum.places) / static_cast<double>(sum.ranks),
              static_cast<double>(sum.link_classes) / static_cast<double>(sum.links));
  if (sum.sends > 0) {
    std::printf("folding: %-11s %.2f classes for each send\n", what.c_str(),
                static_cast<double>(sum.send_classes) / static_cast<double>(sum.sends));
  }
}

}  // namespace

FoldingCount compare_folded(int first, int last, bool steps) {
  FoldingCount count;
  for (int seed = first; seed <= last; ++seed) {
    const UnevenJob job = random_uneven_job(seed);
    const BuiltPlatform folded = build(job, {true, false, steps});
    INFO("job of seed " << seed << " on " << job.kind << ": " << folded.fold.ranks << " ranks, "
                        << folded.fold.places << " places, " << job.asymmetries.size()
                        << " asymmetries");
    const BuiltPlatform all = build(job, {false, false, steps});
    const sim::SimulatedStep of_classes = simulated(job, folded.platform);
    const sim::SimulatedStep of_all = simulated(job, all.platform);
    CHECK(ends_of_ranks(of_classes, folded) == ends_of_ranks(of_all, all));
    CHECK(unequal_links(of_classes, folded, of_all, all).empty());
    CHECK(of_classes.max_memory_delay == of_all.max_memory_delay);
    count.late += std::any_of(of_all.links.begin(), of_all.links.end(),
                              [](const sim::LinkUse& link) { return link.max_delay > 0_s; })
                      ? 1
                      : 0;
    CHECK(folded.fold.ranks <= 256);
    add(folded.fold, count.all);
    add(folded.fold, count.of_kind[job.kind]);
    if (!job.groups.empty()) {
      ++count.of_groups[job.groups];
    }
    count.uneven += job.asymmetries.size() >= 2 ? 1 : 0;
    for (const std::string& asymmetry : job.asymmetries) {
      ++count.with[asymmetry];
    }
  }
  print("all", count.all);
  for (const auto& [kind, sum] : count.of_kind) {
    print(kind, sum);
  }
  for (const auto& [asymmetry, jobs] : count.with) {
    std::printf("folding: %-17s in %4d jobs\n", asymmetry.c_str(), jobs);
  }
  for (const auto& [groups, jobs] : count.of_groups) {
    std::printf("folding: groups of %-7s in %4d jobs\n", groups.c_str(), jobs);
  }
  std::printf("folding: two or more      in %4d jobs\n", count.uneven);
  std::printf("folding: links too narrow in %4d jobs\n", count.late);
  return count;
}

}  // namespace payoff::test
