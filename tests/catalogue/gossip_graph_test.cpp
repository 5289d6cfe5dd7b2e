// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "model/evaluate.hpp"
#include "model/exchange_graph.hpp"
#include "model/experiment.hpp"
#include "sim/step.hpp"
#include "sim/topology_platform.hpp"
#include "study/advice.hpp"
#include "study/candidate_job.hpp"
#include "tests/catalogue/exchange_graphs.hpp"
#include "tests/catalogue/methods.hpp"
#include "tests/catch.hpp"
#include "tests/sim/topologies.hpp"
#include "tests/study/experiments.hpp"

// Training steps that average over a graph of nodes: prices, and who waits for whom.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using test::all_graphs;
using test::graph_of;
using test::wheel;

namespace {

Experiment job_of(const Method& method, int nodes, int gpus_per_node) {
  CompressionPlan plan;
  plan.label = method.name;
  plan.method = method;
  Experiment job = test::with_plans(test::small_job({.nodes = nodes}), {plan});
  job.cluster.gpus_per_node = gpus_per_node;
  job.layout.dp = job.cluster.gpus();
  return job;
}

Method gossip_over(const ExchangeGraph& graph, const std::string& name = "gossip") {
  Method method = test::method(name);
  method.graph = graph;
  return method;
}

StepPlan plan_of(const Experiment& job) {
  StepPlan plan = PreparedExperiment(job).plan(job.plans.back());
  plan.reserved_share = 0;
  return plan;
}

sim::SimulatedStep simulated(const Experiment& job, const ClusterState& state, bool steps = false) {
  const StepPlan plan = plan_of(job);
  const sim::BuiltPlatform built =
      sim::build_platform(job.cluster, state, plan, {true, true, steps});
  INFO((built.problems.empty() ? "" : built.problems.front().message));
  REQUIRE(built.problems.empty());
  const sim::SimulatedStep step = sim::simulate(plan, built.platform);
  CHECK(step.events == sim::estimate(plan, built.platform).events);
  return step;
}

const Message& exchange(const StepPlan& plan) {
  for (const BucketKind& kind : plan.kinds) {
    for (const BucketRound& round : kind.rounds) {
      if (round.message.collective == Collective::all_to_all) {
        return round.message;
      }
    }
  }
  FAIL("no exchange");
  return plan.kinds.front().rounds.front().message;
}

}  // namespace

TEST_CASE("graphs that nodes cannot have are told") {
  const auto told = [](const ExchangeGraph& graph, int nodes) {
    const Problems problems = check(graph, nodes);
    return problems.empty() ? std::string() : problems.front().message;
  };
  CHECK(told(wheel(6), 6).empty());
  CHECK_THAT(told(wheel(6), 8), ContainsSubstring("has 6 nodes, and those that average are on 8"));
  CHECK_THAT(told(graph_of(ExchangeShape::torus), 7), ContainsSubstring("rows and columns"));
  CHECK_THAT(told(graph_of(ExchangeShape::random), 7), ContainsSubstring("3 neighbours for each"));
  ExchangeGraph apart{ExchangeShape::own, 0, 0, {{1}, {0}, {3}, {2}}, "f"};
  CHECK_THAT(told(apart, 4), ContainsSubstring("from node 0 to node 2"));
  // Heard of by all, hearing of nobody.
  ExchangeGraph one_way{ExchangeShape::own, 0, 0, {{1}, {0}, {0}}, "f"};
  CHECK_THAT(told(one_way, 3), ContainsSubstring("from node 0 to node 2"));
  ExchangeGraph deaf{ExchangeShape::own, 0, 0, {{1, 2}, {0}, {}}, "f"};
  CHECK_THAT(told(deaf, 3), ContainsSubstring("from node 2 to node 0"));
  Experiment job = job_of(gossip_over(wheel(6)), 8, 4);
  REQUIRE(check(job).size() == 1);
  CHECK(check(job).front().path == "compress.0");
  // Nor does a search take it to a layout on as many nodes.
  const PreparedExperiment eight(job_of(test::method("gossip"), 8, 4));
  CHECK_FALSE(has_effect(job.plans.back(), eight));
  job.plans.back().method->graph = wheel(8);
  CHECK(has_effect(job.plans.back(), eight));
}

TEST_CASE("an exchange over the complete graph is the exchange of all nodes") {
  for (const int gpus : {1, 4}) {
    Experiment all = job_of(test::method("gossip", {{"neighbours", 7}}), 8, gpus);
    const StepPlan whole = plan_of(all);
    const StepPlan complete =
        plan_of(job_of(gossip_over(graph_of(ExchangeShape::complete)), 8, gpus));
    CHECK_THAT(exchange(complete).alone.si, WithinRel(exchange(whole).alone.si, 1e-12));
    CHECK(exchange(complete).size == exchange(whole).size);
    CHECK_THAT(evaluate(complete).step.si, WithinRel(evaluate(whole).step.si, 1e-12));
  }
}

TEST_CASE("a NIC carries what the node with the most edges sends or gets") {
  constexpr int nodes = 16;
  for (const ExchangeGraph& graph : all_graphs(nodes)) {
    const Experiment job = job_of(gossip_over(graph), nodes, 4);
    const StepPlan plan = plan_of(job);
    // Counted again, edge by edge.
    std::vector<int> out(nodes);
    std::vector<int> in(nodes);
    const Neighbours neighbours = neighbours_of(graph, nodes);
    for (std::size_t from = 0; from < nodes; ++from) {
      for (const std::uint32_t to : neighbours[from]) {
        ++out[from];
        ++in[to];
      }
    }
    const int most = std::max(*std::max_element(out.begin(), out.end()),
                              *std::max_element(in.begin(), in.end()));
    const Bytes part = static_cast<double>(plan.kinds.front().elements) * 4_B / 4;
    const Bytes sent = wire_bytes_per_rank(Collective::all_to_all, exchange(plan).size, nodes);
    CHECK_THAT(sent.si, WithinRel((most * part).si, 1e-12));
    // Never sooner than the line of the NIC lets the four GPUs of a node.
    const Bandwidth line = job.cluster.nic * job.cluster.nics_per_node;
    CHECK(exchange(plan).alone >= 4 * sent / line * (1 - 1e-9));
  }
}

TEST_CASE("a round without a message waits for none of other buckets, in both engines") {
  // In nodes of one GPU nothing is summed or gathered inside.
  for (const std::string name : {"gossip", "gossip_u8", "sparq", "switchml"}) {
    const StepPlan plan = plan_of(job_of(test::method(name), 4, 1));
    for (const BucketKind& kind : plan.kinds) {
      CHECK(kind.rounds.size() == 1);
      CHECK(kind.rounds.front().message.alone > 0_s);
    }
    const sim::SimulatedStep step = sim::simulate(plan, {});
    const double ticks = std::abs((step.prediction.step - evaluate(plan).step).si) * 1e12;
    CHECK(ticks <= static_cast<double>(step.path_activities));
  }
}

TEST_CASE("the engines agree to the tick on every graph, with one place a stage and rank by rank") {
  constexpr int nodes = 8;
  for (const std::string name : {"gossip", "gossip_u8", "sparq"}) {
    for (const ExchangeGraph& graph : all_graphs(nodes)) {
      for (const int gpus : {1, 4}) {
        INFO(name << " shape " << static_cast<int>(graph.shape) << " gpus " << gpus);
        const Experiment job = job_of(gossip_over(graph, name), nodes, gpus);
        REQUIRE(check(job).empty());
        const Seconds evaluated = evaluate(plan_of(job)).step;
        ClusterState listed;
        listed.slow_gpus = {{"", 0, 1.0}};
        for (const ClusterState& state : {ClusterState{}, listed}) {
          const sim::SimulatedStep step = simulated(job, state);
          const double ticks = std::abs(step.prediction.step.si - evaluated.si) * 1e12;
          CHECK(ticks <= static_cast<double>(step.path_activities));
        }
        // At level `steps` these messages stay flows.
        const sim::SimulatedStep sends = simulated(job, ClusterState{}, true);
        CHECK_THAT(sends.prediction.step.si, WithinRel(evaluated.si, 1e-9));
      }
    }
  }
}

TEST_CASE("a slow GPU delays all of an all-reduce, and of gossip its node and the neighbours") {
  constexpr int nodes = 8;
  for (const int gpus : {1, 4}) {
    for (const ExchangeGraph& graph : all_graphs(nodes)) {
      INFO("shape " << static_cast<int>(graph.shape) << " gpus " << gpus);
      Experiment job = job_of(gossip_over(graph), nodes, gpus);
      job.cluster.nic = 1000_GBps;  // nothing that is in flight hides a delay
      job.cluster.network.law.node_limit = {};
      constexpr int slow_node = 5;
      ClusterState even;
      even.slow_gpus = {{"", slow_node * gpus, 1.0}};
      ClusterState uneven;
      uneven.slow_gpus = {{"", slow_node * gpus, 2.0}};
      const sim::SimulatedStep before = simulated(job, even);
      const sim::SimulatedStep after = simulated(job, uneven);
      REQUIRE(after.place_ends.size() == static_cast<std::size_t>(nodes * gpus));
      const auto gets_from_slow = neighbours_of(graph, nodes)[slow_node];
      for (int rank = 0; rank < nodes * gpus; ++rank) {
        const int node = rank / gpus;
        const bool waits =
            node == slow_node || std::count(gets_from_slow.begin(), gets_from_slow.end(), node) > 0;
        const auto r = static_cast<std::size_t>(rank);
        INFO("rank " << rank);
        CHECK((after.place_ends[r] > before.place_ends[r]) == waits);
        // To the picosecond, and by no more than the kernels of the slow GPU take longer.
        CHECK((waits || after.place_ends[r] == before.place_ends[r]));
        CHECK(after.place_ends[r] <= 2 * before.place_ends[r]);
      }
    }
    // Beside it: the first rank of an all-reduce is through when the last one is, but for the
    // update of its weights.
    Experiment dense = job_of(test::method("gossip"), nodes, gpus);
    dense.plans.pop_back();
    ClusterState uneven;
    uneven.slow_gpus = {{"", 5 * gpus, 2.0}};
    const sim::SimulatedStep all = simulated(dense, uneven);
    const auto [first, last] = std::minmax_element(all.place_ends.begin(), all.place_ends.end());
    CHECK(*first > 0.9 * *last);
  }
}

TEST_CASE("the text of a plan names its graph, and neighbours where they are free") {
  const auto text = [](ExchangeGraph graph) {
    CompressionPlan plan;
    plan.method = gossip_over(graph);
    plan.method->parameters["neighbours"] = 3;
    return plan_text(plan);
  };
  CHECK(text({ExchangeShape::ring, 0, 0, {}, {}}) == "gossip:graph=ring");
  CHECK(text({ExchangeShape::random, 3, 7, {}, {}}) ==
        "gossip:neighbours=3,graph=random,graph_seed=7");
  CHECK(text({ExchangeShape::own, 0, 0, {{1}, {0}}, "0-1"}) == "gossip:graph=0-1");
}

TEST_CASE("an uplink carries the edges that cross it, and no others") {
  // Two leaves of four nodes, one NIC's width between them: over the complete graph 4 x 4 edges
  // cross each way and a NIC carries 7, over the ring 2 and 2.
  Server server;
  server.nics = 1;
  server.nic = {10_Gbps, {}};
  ClusterState leaves;
  leaves.topology = sim::test::regular(server, 8, sim::test::fat_tree(false, 4, 1, 4.0));
  leaves.topology->balance = Balance::ideal;
  for (const auto& [shape, crossing] :
       {std::pair(ExchangeShape::ring, 2.0), std::pair(ExchangeShape::complete, 16.0)}) {
    const Experiment job = job_of(gossip_over(graph_of(shape)), 8, 1);
    const StepPlan plan = plan_of(job);
    Seconds expected;
    for (const Bucket& bucket : plan.buckets(0)) {
      const BucketKind& kind = plan.kind(bucket);
      const Bytes each = static_cast<double>(kind.elements) * 4_B;
      expected += std::max(kind.rounds.front().message.alone, crossing * each / 10_Gbps);
    }
    CHECK_THAT(simulated(job, leaves).dp.busy.si, WithinRel(expected.si, 1e-6));
    const bool fits = shape == ExchangeShape::ring;
    CHECK((simulated(job, ClusterState{}).dp.busy.si >= expected.si * (1 - 1e-6)) == fits);
  }
}
