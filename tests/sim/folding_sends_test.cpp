// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "sim/background.hpp"
#include "sim/folding.hpp"
#include "sim/group_programs.hpp"
#include "sim/routing.hpp"
#include "sim/send_incidence.hpp"
#include "tests/catch.hpp"
#include "tests/sim/compare_folded.hpp"
#include "tests/sim/plans.hpp"
#include "tests/sim/topologies.hpp"
#include "tests/sim/uneven_jobs.hpp"

// At level `steps` every send of a program is folded with its like.

using namespace payoff;
using payoff::sim::BuiltPlatform;
using payoff::sim::SendIncidence;
using payoff::test::random_uneven_job;
using payoff::test::UnevenJob;

namespace {

// As build_platform does, folded by what somebody thinks the sends are.
std::vector<Seconds> ends_folded_by(const UnevenJob& job, void (*think)(SendIncidence&)) {
  test::ListedJob listed = test::list(job);
  const sim::SendRules rules{job.cluster, job.plan.layout, *job.state.topology};
  std::vector<Bandwidth> left;
  const auto sends = sim::send_incidence(job.plan, rules, listed.graph, listed.incidence);
  REQUIRE(sends);
  for (sim::Incidence::LinkPart& link : listed.incidence.links) {
    const sim::Edge& edge = listed.graph.links.edges()[link.edge];
    link.capacity = edge.capacity * sim::left_by_others(rules.topology, edge.link_class, link.edge);
  }
  SendIncidence thought = *sends;
  think(thought);
  const sim::Partition partition = sim::fold(listed.incidence, thought);
  sim::FoldedSystem system = sim::quotient(listed.incidence, partition);
  std::vector<sim::Link> links;
  links.reserve(system.links.size());
  for (const sim::FoldedSystem::Link& link : system.links) {
    links.push_back({"", link.capacity});
  }
  sim::Platform platform(job.cluster, job.plan.layout, std::move(system), listed.incidence,
                         std::move(links));
  platform.send_over(std::make_shared<const sim::SendNetwork>(
      sim::send_network(rules, listed.incidence, *sends, partition)));
  const sim::SimulatedStep step = test::simulated(job, platform);
  std::vector<Seconds> result;
  for (const std::uint32_t place : partition.ranks) {
    result.push_back(step.place_ends[place]);
  }
  return result;
}

// Replicas that sum their gradients around one ring.
UnevenJob ring_of(int servers, const Topology& topology) {
  UnevenJob job;
  job.plan = test::pipeline(1, 1, 1, 1_ms, 1_ms);
  job.plan.layout.dp = servers;
  test::add_bucket(job.plan, 0, 0, 0_s, test::gradients(6_ms, 400_MB), 0_s);
  job.state.topology = topology;
  job.state.topology->balance = Balance::ideal;
  job.cluster = test::cluster_of(*job.state.topology, 1);
  return job;
}

}  // namespace

TEST_CASE("sent by programs, folded and unfolded steps end at the same picosecond on every rank") {
  const test::FoldingCount count = test::compare_folded(1, 60, true);
  CHECK(2 * count.uneven >= count.all.jobs);
  CHECK(count.all.places < count.all.ranks);
  CHECK(10 * count.all.send_classes < 9 * count.all.sends);
  CHECK(4 * count.late >= count.all.jobs);
}

TEST_CASE("on one switch a ring is one send a step, and a slow GPU does not tell its sends apart") {
  // All send at once when the last has come to the message, so only its compute is of a class.
  UnevenJob job = ring_of(8, sim::test::regular(sim::test::switched(1, 1), 8, SingleSwitch{}));
  const BuiltPlatform even = test::build(job, {true, false, true});
  CHECK(even.fold.places == 1);
  CHECK(even.fold.sends == 8);
  CHECK(even.fold.send_classes == 1);
  CHECK(test::simulated(job, even.platform).sends == 14);  // 2 (n - 1) steps of one send
  const BuiltPlatform all = test::build(job, {false, false, true});
  CHECK(test::simulated(job, all.platform).sends == 8 * 14);
  job.state.slow_gpus.push_back({"", 3, 1.5});
  const BuiltPlatform uneven = test::build(job, {true, false, true});
  CHECK(uneven.fold.places == 2);
  CHECK(uneven.fold.send_classes == 1);
}

TEST_CASE("one narrow link splits a ring into as many sends as there are ranks") {
  UnevenJob job = ring_of(8, sim::test::regular(sim::test::switched(1, 1), 8, SingleSwitch{}));
  const test::ListedJob listed = test::list(job);
  const sim::Edge& edge = listed.graph.links.edges()[listed.incidence.links.front().edge];
  const auto& vertices = listed.graph.links.vertices();
  job.state.topology->faults.push_back(
      {"degraded.0", vertices[edge.from].name, vertices[edge.to].name, 0.5});
  const BuiltPlatform built = test::build(job, {true, false, true});
  CHECK(built.fold.send_classes == 8);
  // Whoever waits for the message waits for all of it.
  CHECK(built.fold.places == 1);
}

TEST_CASE("a planted mistake in what tells sends apart is found by comparing with the right step",
          "[once]") {
  struct Mistake {
    const char* what;
    void (*plant)(SendIncidence&);
  };
  constexpr Mistake mistakes[] = {
      {"ways are not looked at",
       [](SendIncidence& sends) {
         for (SendIncidence::Way& way : sends.ways) {
           way.loads.clear();
         }
       }},
      {"programs and steps are not looked at",
       [](SendIncidence& sends) {
         for (SendIncidence::Seat& seat : sends.seats) {
           seat.program = 0;
         }
         for (SendIncidence::Send& send : sends.sends) {
           send.what = 0;
         }
       }},
      {"who gets a send is not looked at",
       [](SendIncidence& sends) {
         for (SendIncidence::Send& send : sends.sends) {
           send.to = send.from;
         }
       }},
      {"who makes a send is not looked at",
       [](SendIncidence& sends) {
         for (SendIncidence::Send& send : sends.sends) {
           send.from = send.to;
         }
       }},
  };
  std::vector<UnevenJob> jobs;
  for (int seed = 1; jobs.size() < 80; ++seed) {
    UnevenJob job = random_uneven_job(seed);
    if (job.plan.layout.ranks() > 32) {
      jobs.push_back(std::move(job));
    }
  }
  int found[std::size(mistakes)] = {};
  for (const UnevenJob& job : jobs) {
    const std::vector<Seconds> right = ends_folded_by(job, [](SendIncidence&) {});
    for (std::size_t m = 0; m < std::size(mistakes); ++m) {
      found[m] += ends_folded_by(job, mistakes[m].plant) == right ? 0 : 1;
    }
  }
  for (std::size_t m = 0; m < std::size(mistakes); ++m) {
    std::printf("planted: %s: found in %d of %zu jobs\n", mistakes[m].what, found[m], jobs.size());
    INFO(mistakes[m].what);
    CHECK(found[m] >= 5);
  }
}
