// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <utility>
#include <vector>

#include "sim/folding.hpp"
#include "sim/step.hpp"
#include "sim/topology_platform.hpp"
#include "tests/catch.hpp"
#include "tests/sim/uneven_jobs.hpp"

// Mistakes that are put into the folding of a cluster, and how many of them a comparison with the
// unfolded step finds.

using namespace payoff;
using payoff::sim::BuiltPlatform;
using payoff::sim::Incidence;
using payoff::test::build;
using payoff::test::random_uneven_job;
using payoff::test::simulated;
using payoff::test::UnevenJob;

namespace {

// Of places that wait for each other, all meet, and whoever is sent to is sent to by its like: else
// somebody waits for ever.
bool all_meet(const sim::Places& places, std::size_t stages) {
  const auto is_in = [&](std::size_t group, std::size_t place) {
    const auto& groups = places.places[place].group;
    return std::find(groups.begin(), groups.end(), group) != groups.end();
  };
  for (std::size_t p = 0; p < places.places.size(); ++p) {
    for (const std::size_t group : places.places[p].group) {
      for (const std::size_t member : places.groups[group]) {
        if (!is_in(group, member)) {
          return false;
        }
      }
    }
    const sim::Place& place = places.places[p];
    if ((place.stage + 1 < stages && places.places[place.next].previous != p) ||
        (place.stage > 0 && places.places[place.previous].next != p)) {
      return false;
    }
  }
  return true;
}

// As build_platform does, folded by what somebody thinks the incidence is; nothing where that can
// be seen to be wrong before it runs.
template <class Think>
std::vector<Seconds> ends_folded_by(const UnevenJob& job, Think think,
                                    void (*plant)(const Incidence&, sim::Partition&) = nullptr) {
  const test::ListedJob listed = test::list(job);
  const Incidence& incidence = listed.incidence;
  Incidence thought = incidence;
  think(thought);
  sim::Partition partition = sim::fold(thought);
  if (plant != nullptr) {
    plant(incidence, partition);
  }
  sim::FoldedSystem system = sim::quotient(incidence, partition);
  if (!all_meet(system.places, job.plan.stages.size())) {
    return {};
  }
  std::vector<sim::Link> links;
  links.reserve(system.links.size());
  for (const sim::FoldedSystem::Link& link : system.links) {
    links.push_back({"", link.capacity});
  }
  const sim::Platform platform(job.cluster, job.plan.layout, std::move(system), incidence,
                               std::move(links));
  const sim::SimulatedStep step = simulated(job, platform);
  std::vector<Seconds> result;
  for (const std::uint32_t place : partition.ranks) {
    result.push_back(step.place_ends[place]);
  }
  return result;
}

}  // namespace

TEST_CASE("a planted mistake of the refinement is found by comparing with the unfolded step",
          "[once]") {
  struct Mistake {
    const char* what;
    void (*plant)(Incidence&);
  };
  constexpr Mistake mistakes[] = {
      {"slow GPUs look like the others",
       [](Incidence& i) {
         for (Incidence::RankPart& rank : i.ranks) {
           rank.slowdown = 1;
         }
       }},
      {"all links look equally wide",
       [](Incidence& i) {
         for (Incidence::LinkPart& link : i.links) {
           link.capacity = 1_GBps;
         }
       }},
      {"routes are not looked at",
       [](Incidence& i) {
         for (Incidence::Channel& channel : i.channels) {
           channel.ring.clear();
         }
       }},
      {"members of a group are not looked at",
       [](Incidence& i) {
         for (Incidence::RankPart& rank : i.ranks) {
           rank.channel[0] = rank.channel[1] = Incidence::none;
         }
       }},
      {"who receives is not looked at",
       [](Incidence& i) {
         for (Incidence::Channel& channel : i.channels) {
           if (channel.role >= Incidence::Role::forward) {
             channel.members.back() = channel.members.front();
           }
         }
       }},
  };
  constexpr int tried = 200;
  int found[std::size(mistakes)] = {};
  int before[std::size(mistakes)] = {};
  for (int seed = 1; seed <= tried; ++seed) {
    const UnevenJob job = random_uneven_job(seed);
    const std::vector<Seconds> right = ends_folded_by(job, [](Incidence&) {});
    REQUIRE_FALSE(right.empty());
    for (std::size_t m = 0; m < std::size(mistakes); ++m) {
      const std::vector<Seconds> wrong = ends_folded_by(job, mistakes[m].plant);
      found[m] += wrong == right ? 0 : 1;
      before[m] += wrong.empty() ? 1 : 0;
    }
  }
  for (std::size_t m = 0; m < std::size(mistakes); ++m) {
    std::printf("planted: %s: found in %d of %d jobs, in %d before they ran\n", mistakes[m].what,
                found[m], tried, before[m]);
    INFO(mistakes[m].what);
    CHECK(found[m] >= tried / 20);
  }
}

TEST_CASE("refining that stops with two classes of a stage in one is found in most jobs",
          "[once]") {
  // As a refinement would leave them that ends a round before the fixpoint.
  const auto merge = [](const Incidence& incidence, sim::Partition& partition) {
    const std::uint32_t last = partition.rank_classes - 1;
    const auto& classes = partition.ranks;
    const auto rank =
        static_cast<std::size_t>(std::find(classes.begin(), classes.end(), last) - classes.begin());
    for (std::size_t other = 0; other < classes.size(); ++other) {
      if (classes[other] != last && incidence.ranks[other].stage == incidence.ranks[rank].stage) {
        std::replace(partition.ranks.begin(), partition.ranks.end(), last, classes[other]);
        --partition.rank_classes;
        return;
      }
    }
  };
  int found = 0;
  int tried = 0;
  for (int seed = 1; seed <= 200; ++seed) {
    const UnevenJob job = random_uneven_job(seed);
    const BuiltPlatform folded = build(job, {true, false});
    if (folded.fold.places == static_cast<std::uint64_t>(job.plan.layout.pp)) {
      continue;  // nothing to take for one
    }
    ++tried;
    found += ends_folded_by(
                 job, [](Incidence&) {}, merge) == ends(job, folded)
                 ? 0
                 : 1;
  }
  std::printf("planted: two classes in one: found in %d of %d jobs\n", found, tried);
  CHECK(tried >= 100);
  CHECK(2 * found >= tried);
}
