// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/uneven_jobs.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "sim/background.hpp"
#include "sim/routing.hpp"
#include "tests/catch.hpp"
#include "tests/sim/topologies.hpp"

namespace payoff::test {
namespace {

using sim::BuiltPlatform;

// Those of GPUs, as build_platform has them.
std::vector<double> slowdowns(const UnevenJob& job, const sim::TopologyGraph& graph) {
  std::vector<double> of_gpu(graph.gpu_of_rank.size(), 1.0);
  for (std::size_t g = 0; g < of_gpu.size() && job.state.jitter.sd > 0; ++g) {
    of_gpu[g] += job.state.jitter.sd * std::abs(sim::normal_draw(job.state.jitter.seed, g));
  }
  for (const SlowGpu& slow : job.state.slow_gpus) {
    of_gpu[static_cast<std::size_t>(slow.gpu)] *= slow.slowdown;
  }
  std::vector<double> result;
  for (int r = 0; r < job.plan.layout.ranks(); ++r) {
    result.push_back(of_gpu[graph.gpu_of_rank[static_cast<std::size_t>(r)]]);
  }
  return result;
}

// Adds what tells ranks or links apart, and writes down what does.
class Asymmetries {
 public:
  Asymmetries(Random& random, UnevenJob& job)
      : random_(random), job_(job), topology_(*job.state.topology) {}

  void add() {
    order(20);
    slow(45);
    hash(25);
    links(40);
    loads(35);
    if (random_.chance(4)) {
      job_.state.jitter = {random_.between(0.01, 0.2), 3};
      note("jitter");
    }
    std::set<std::size_t> works;  // a stage has that of the one which it is like
    for (const StagePlan& stage : job_.plan.stages) {
      works.insert(stage.like);
    }
    if (works.size() > 1) {
      note("uneven stages");
    }
  }

 private:
  void note(const char* what) { job_.asymmetries.emplace_back(what); }

  void order(int percent) {
    if (!random_.chance(percent)) {
      return;
    }
    std::vector<int>& order = topology_.rank_order;
    order.resize(topology_.gpus());
    std::iota(order.begin(), order.end(), 0);
    for (int i = static_cast<int>(order.size()) - 1; i > 0; --i) {
      std::swap(order[static_cast<std::size_t>(i)],
                order[static_cast<std::size_t>(random_.integer(0, i))]);
    }
    if (!std::is_sorted(order.begin(), order.end())) {
      note("order of ranks");
    }
  }

  void slow(int percent) {
    if (!random_.chance(percent)) {
      return;
    }
    for (int i = random_.integer(1, 2); i > 0; --i) {
      const int rank = random_.integer(0, job_.plan.layout.ranks() - 1);
      const int gpu = topology_.rank_order.empty()
                          ? rank
                          : topology_.rank_order[static_cast<std::size_t>(rank)];
      job_.state.slow_gpus.push_back({"", gpu, random_.between(1.05, 1.5)});
    }
    note("slow GPUs");
  }

  void hash(int percent) {
    if (!random_.chance(percent)) {
      return;
    }
    const std::vector<double> balanced = loads_of_channels();
    topology_.balance = Balance::hashed;
    if (loads_of_channels() != balanced) {
      note("hashed routes");
    }
  }

  // One that is in use becomes narrower, another one fails if all can do without it.
  void links(int percent) {
    if (random_.chance(percent)) {
      if (const auto fault = fault_of_used(random_.between(0.2, 0.9))) {
        topology_.faults.push_back(*fault);
        note("degraded link");
      }
    }
    for (int tries = random_.chance(percent) ? 4 : 0; tries > 0; --tries) {
      if (const auto fault = fault_of_used(0)) {
        topology_.faults.push_back(*fault);
        if (sim::build(topology_).problems.empty()) {  // all still reach each other
          note("failed link");
          return;
        }
        topology_.faults.pop_back();
      }
    }
  }

  void loads(int percent) {
    if (!random_.chance(percent)) {
      return;
    }
    const std::vector<BackgroundClass> classes = classes_in_use();
    if (classes.empty()) {
      return;
    }
    const int pick = random_.integer(0, static_cast<int>(classes.size()) - 1);
    const double mean = random_.between(0.1, 0.5);
    topology_.background[static_cast<std::size_t>(classes[static_cast<std::size_t>(pick)])] = {
        mean, random_.chance(60) ? 0.1 : 0.0};
    const ListedJob listed = list(job_);
    std::vector<double> left;
    for (const sim::Incidence::LinkPart& link : listed.incidence.links) {
      const sim::Edge& edge = listed.graph.links.edges()[link.edge];
      left.push_back(sim::left_by_others(topology_, edge.link_class, link.edge));
    }
    // Beside the mean of the class there is the 1 of the others.
    if (std::set<double>(left.begin(), left.end()).size() > 2) {
      note("loads that differ");
    }
  }

  [[nodiscard]] std::vector<BackgroundClass> classes_in_use() const {
    const ListedJob listed = list(job_);
    std::set<BackgroundClass> classes;
    for (const sim::Incidence::LinkPart& link : listed.incidence.links) {
      classes.insert(sim::background_class(listed.graph.links.edges()[link.edge].link_class));
    }
    return {classes.begin(), classes.end()};
  }

  [[nodiscard]] std::vector<double> loads_of_channels() const {
    const ListedJob listed = list(job_);
    std::vector<double> loads;
    for (const sim::Incidence::Channel& channel : listed.incidence.channels) {
      for (const sim::Incidence::Load& load : channel.ring) {
        loads.push_back(listed.incidence.links[load.link].edge);
        loads.push_back(load.units);
      }
    }
    return loads;
  }

  [[nodiscard]] std::optional<LinkFault> fault_of_used(double ratio) {
    const ListedJob listed = list(job_);
    const auto& links = listed.incidence.links;
    if (links.empty()) {
      return std::nullopt;
    }
    const int pick = random_.integer(0, static_cast<int>(links.size()) - 1);
    const sim::EdgeId used = links[static_cast<std::size_t>(pick)].edge;
    const sim::Edge& edge = listed.graph.links.edges()[used];
    const auto& vertices = listed.graph.links.vertices();
    return LinkFault{"failed.0", vertices[edge.from].name, vertices[edge.to].name, ratio};
  }

  Random& random_;
  UnevenJob& job_;
  Topology& topology_;
};

bool sends(const StagePlan& stage, MessageKind kind) {
  const auto has = [&](const auto& pieces) {
    return std::any_of(pieces.begin(), pieces.end(),
                       [&](const auto& piece) { return piece.message.kind == kind; });
  };
  return has(stage.compute->forward) || has(stage.compute->backward);
}

bool sends(const StepPlan& plan, MessageKind kind) {
  return std::any_of(plan.stages.begin(), plan.stages.end(),
                     [&](const StagePlan& stage) { return sends(stage, kind); });
}

// Tokens go from every rank of a group to every other one, over other links than a ring.
void exchange_tokens(StepPlan& plan) {
  std::map<const StageCompute*, std::shared_ptr<const StageCompute>> known;
  for (StagePlan& stage : plan.stages) {
    std::shared_ptr<const StageCompute>& exchanging = known[stage.compute.get()];
    if (!exchanging) {
      auto changed = std::make_shared<StageCompute>(*stage.compute);
      for (auto* pieces : {&changed->forward, &changed->backward}) {
        for (auto& piece : *pieces) {
          if (piece.message.kind == MessageKind::ep_activations) {
            piece.message.collective = Collective::all_to_all;
          }
        }
      }
      exchanging = std::move(changed);
    }
    stage.compute = exchanging;
  }
}

}  // namespace

void add_groups(int seed, UnevenJob& job) {
  Random random(static_cast<std::uint64_t>(seed) + 1'000'000);
  ParallelLayout& layout = job.plan.layout;
  const int ways = random.chance(50) ? 2 : 4;
  if (layout.dp % ways != 0 || layout.zero > 0) {
    return;
  }
  if (sends(job.plan, MessageKind::ep_activations)) {
    layout.ep = ways;
    exchange_tokens(job.plan);
    job.groups = "experts";
  } else if (sends(job.plan, MessageKind::cp_activations)) {
    layout.cp = ways;
    layout.dp /= ways;
    job.groups = "context";
  }
}

Cluster cluster_of(const Topology& topology, int gpus_per_node) {
  Cluster cluster;
  cluster.gpu.compute_units = 100;
  cluster.fabric.kind = FabricKind::switched;
  cluster.fabric.per_gpu = cluster.fabric.pair = 1_GBps;
  cluster.fabric.max_gpus = gpus_per_node;
  cluster.network.kind = NetworkKind::rdma;
  cluster.gpus_per_node = gpus_per_node;
  cluster.nics_per_node = gpus_per_node;
  cluster.nic = 1_GBps;
  cluster.nodes = static_cast<int>(topology.gpus()) / gpus_per_node;
  return cluster;
}

ListedJob list(const UnevenJob& job) {
  ListedJob listed{sim::test::built(*job.state.topology), {}};
  const Topology& topology = *job.state.topology;
  sim::Routing routing(listed.graph, topology.balance, topology.seed);
  sim::IncidenceRules rules;
  rules.server_ranks = static_cast<std::uint32_t>(job.cluster.gpus_per_node);
  rules.fabric = job.cluster.fabric.pair;
  rules.exchanges = sim::exchanging_groups(job.plan);
  rules.nic = job.cluster.nic;
  rules.slowdown = slowdowns(job, listed.graph);
  listed.incidence = sim::incidence_of(job.plan.layout, routing, rules);
  for (sim::Incidence::LinkPart& link : listed.incidence.links) {
    const sim::LinkClass link_class = listed.graph.links.edges()[link.edge].link_class;
    link.capacity *= sim::left_by_others(topology, link_class, link.edge);
  }
  return listed;
}

UnevenJob random_uneven_job(int seed) {
  Random random(static_cast<std::uint64_t>(seed));
  UnevenJob job;
  const bool pipeline = random.chance(60);
  auto [plan, traits] = pipeline ? random_pipeline(static_cast<std::uint64_t>(seed))
                                 : random_replicas(static_cast<std::uint64_t>(seed));
  job.plan = std::move(plan);
  // One in ten is as large as allowed.
  const int most = random.chance(10) ? 256 : 64;
  ParallelLayout& layout = job.plan.layout;
  layout.tp = 1 << random.integer(0, 3);
  layout.dp = std::max(1, random.integer(2, most) / (layout.tp * layout.pp));
  if (layout.dp % 2 == 0 && random.chance(30)) {
    layout.zero = 1;
    layout.shard = layout.dp / 2;
  }
  add_groups(seed, job);
  RandomTopology topology = random_kind_of_topology(random, layout.ranks());
  job.kind = std::move(topology.kind);
  job.state.topology = std::move(topology.topology);
  job.cluster = cluster_of(*job.state.topology, topology.gpus_per_server);
  Asymmetries(random, job).add();
  return job;
}

sim::SimulatedStep simulated(const UnevenJob& job, const sim::Platform& platform) {
  return sim::simulate(job.plan, platform);
}

BuiltPlatform build(const UnevenJob& job, const sim::PlatformRules& rules) {
  BuiltPlatform built = sim::build_platform(job.cluster, job.state, job.plan, rules);
  INFO((built.problems.empty() ? "" : built.problems.front().message));
  REQUIRE(built.problems.empty());
  return built;
}

std::vector<Seconds> ends(const UnevenJob& job, const BuiltPlatform& built) {
  return ends_of_ranks(simulated(job, built.platform), built);
}

std::vector<Seconds> ends_of_ranks(const sim::SimulatedStep& step, const BuiltPlatform& built) {
  REQUIRE_FALSE(step.problem);
  std::vector<Seconds> result;
  for (const std::uint32_t place : built.place_of_rank) {
    result.push_back(step.place_ends[place]);
  }
  return result;
}

}  // namespace payoff::test
