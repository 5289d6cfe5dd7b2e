// SPDX-License-Identifier: Apache-2.0
#include "sim/collective_steps.hpp"

#include <algorithm>

#include "model/group_paths.hpp"
#include "sim/background.hpp"
#include "sim/program_count.hpp"
#include "sim/routing.hpp"
#include "sim/unmeasured_steps.hpp"

namespace payoff::sim {
namespace {

// A collective that some steps of a program are.
struct Phase {
  std::uint32_t steps{};
  Collective collective{};
  Group group;
  Bytes size;
};

Group servers_of(const ProgramRanks& ranks) {
  // One rank of each server, beside those of the other GPUs.
  return {static_cast<int>(ranks.ranks / ranks.gpus), 1, static_cast<int>(ranks.gpus)};
}

Group whole_of(const ProgramRanks& ranks) {
  return {static_cast<int>(ranks.ranks), static_cast<int>(ranks.gpus), 1};
}

// Pairs that are `distance` apart: of a server only as many leave it.
Phase pairs(const ProgramRanks& ranks, Rank distance, Bytes bytes) {
  const bool inside = ranks.gpus == ranks.ranks;
  const auto leaving = static_cast<int>(std::min(distance, ranks.gpus));
  return {1, Collective::send_recv, inside ? Group{2, 2, 1} : Group{2, 1, leaving}, bytes};
}

std::vector<Phase> halving_phases(const ProgramRanks& ranks, Bytes size) {
  std::vector<Phase> phases;
  for (Rank distance = ranks.ranks / 2; distance > 0; distance /= 2) {
    const Bytes bytes = size * (static_cast<double>(distance) / ranks.ranks);
    // Partners are in one server together, or all of a server are outside.
    const Group group =
        distance < ranks.gpus ? Group{2, 2, 1} : Group{2, 1, static_cast<int>(ranks.gpus)};
    phases.push_back({1, Collective::send_recv, group, bytes});
  }
  std::vector<Phase> back(phases.rbegin(), phases.rend());
  phases.insert(phases.end(), back.begin(), back.end());
  return phases;
}

std::vector<Phase> bruck_phases(const ProgramRanks& ranks, Bytes size) {
  std::vector<Phase> phases;
  for (Rank have = 1; have < ranks.ranks; have *= 2) {
    const double share = static_cast<double>(std::min(have, ranks.ranks - have)) / ranks.ranks;
    phases.push_back(pairs(ranks, have, size * share));
  }
  return phases;
}

std::vector<Phase> two_level_phases(const Program& program, const ProgramRanks& ranks, Bytes size) {
  const Group inside{static_cast<int>(ranks.gpus), static_cast<int>(ranks.gpus), 1};
  const Group between = servers_of(ranks);
  const std::uint32_t in = ranks.gpus - 1;
  const std::uint32_t out = ranks.ranks / ranks.gpus - 1;
  if (const auto* pxn = std::get_if<PxnProgram>(&program.kind())) {
    return {{pxn->steps_inside(), Collective::all_to_all, inside, size},
            {out, Collective::all_to_all, between, size}};
  }
  return {{in, Collective::reduce_scatter, inside, size},
          {2 * out, Collective::all_reduce, between, size / ranks.gpus},
          {in, Collective::all_gather, inside, size}};
}

// Up to the servers and back. Each way is an exchange in which every rank passes between servers of
// the cluster what the busiest end does: a shard of every worker, or all that a worker has.
std::vector<Phase> star_phases(const Program& program, const ProgramRanks& ranks, Bytes size) {
  const auto n = static_cast<double>(ranks.ranks);
  const bool colocated = program.places() == program.ranks();
  const double busiest =
      std::max(1.0, static_cast<double>(program.ranks()) / program.chunks());  // of the size
  const double others = n - (ranks.gpus < ranks.ranks ? ranks.gpus : 1);
  const Bytes exchanged = colocated ? size : size * (busiest * n / others);
  return {2, {1, Collective::all_to_all, whole_of(ranks), exchanged}};
}

// What the busiest rank sends to others of its server, and out of it beside the other ranks there
// that do: both at once.
std::vector<Phase> gossip_phases(const Program& program, const ProgramRanks& ranks, Bytes size) {
  std::vector<Send> sends;
  program.sends(0, sends);
  std::vector<int> inside(ranks.ranks);
  std::vector<int> outside(ranks.ranks);
  std::vector<int> leaving(ranks.ranks / ranks.gpus);  // ranks of a server
  for (const Send& send : sends) {
    const bool stays = send.from / ranks.gpus == send.to / ranks.gpus;
    const int before = (stays ? inside : outside)[send.from]++;
    leaving[send.from / ranks.gpus] += !stays && before == 0 ? 1 : 0;
  }
  const auto most = [](const std::vector<int>& counts) {
    return *std::max_element(counts.begin(), counts.end());
  };
  std::vector<Phase> phases;
  if (const int count = most(inside); count > 0) {
    phases.push_back({1, Collective::send_recv, {2, 2, 1}, size * count});
  }
  if (const int count = most(outside); count > 0) {
    phases.push_back({1, Collective::send_recv, {2, 1, most(leaving)}, size * count});
  }
  return phases;
}

// A ring as long as if every rank had what the longest part is.
std::vector<Phase> sparse_phases(const Program& program, const ProgramRanks& ranks, Bytes size) {
  const double padded = busiest_share(program) * ranks.ranks / (ranks.ranks - 1.0);
  return {{program.steps(), Collective::all_gather, whole_of(ranks), size * padded}};
}

std::vector<Phase> phases_of(OtherProgram other, const Program& program, const ProgramRanks& ranks,
                             Bytes size) {
  switch (other) {
    case OtherProgram::halving_doubling:
      return halving_phases(ranks, size);
    case OtherProgram::bruck:
      return bruck_phases(ranks, size);
    case OtherProgram::hierarchical:
    case OtherProgram::pxn:
      return two_level_phases(program, ranks, size);
    case OtherProgram::two_shot:  // every rank to every other one, twice
      return {2, {1, Collective::all_to_all, whole_of(ranks), size}};
    case OtherProgram::parameter_server:
      return star_phases(program, ranks, size);
    case OtherProgram::gossip:
      return gossip_phases(program, ranks, size);
    case OtherProgram::sparse_all_gatherv:
      return sparse_phases(program, ranks, size);
    case OtherProgram::sharp:
    case OtherProgram::packed_trees:
      break;
  }
  return {};
}

// The program's steps are a ring's, whatever NCCL would choose there.
std::optional<CollectivePrice> price_of(const Phase& phase, const Cluster& cluster) {
  Cluster own = cluster;
  own.nodes = std::max(own.nodes, phase.group.nodes());
  if (!check_group(own, phase.group).empty()) {
    return std::nullopt;
  }
  const CollectiveModel model(own, phase.group);
  const Algorithm ring = is_one_kernel(phase.collective) ? Algorithm::ring : Algorithm::none;
  return model.price_pinned(phase.collective, phase.size, ring, Protocol::none);
}

}  // namespace

StepsPrice price_of(const Program& program, const CollectivePrice& price, Bytes size) {
  return {price.time, {phase_price(program, 0, program.steps(), size, price.time, price.latency)}};
}

Seconds step_latency(const ProgramRanks& ranks, const Cluster& cluster) {
  return (ranks.gpus < ranks.ranks ? cluster.network.law : cluster.fabric.law).step_simple;
}

std::optional<StepsPrice> price_of(OtherProgram other, const Program& program,
                                   const ProgramRanks& ranks, const Cluster& cluster, Bytes size,
                                   const TopologyGraph& graph, const Topology& topology) {
  if (other == OtherProgram::sharp) {
    return price_of_switches(program, ranks, cluster, size);
  }
  if (other == OtherProgram::packed_trees) {
    Routing routing(graph, topology.balance, topology.seed);
    return price_of_trees(program, ranks, cluster, size, routing);
  }
  StepsPrice together;
  std::uint32_t first = 0;
  const bool at_once = other == OtherProgram::gossip;
  for (const Phase& phase : phases_of(other, program, ranks, size)) {
    const std::optional<CollectivePrice> price = price_of(phase, cluster);
    if (!price || price->time <= 0_s) {
      return std::nullopt;
    }
    if (at_once && price->time <= together.time) {
      continue;
    }
    if (at_once) {
      together = {};
      first = 0;
    }
    together.time += price->time;
    together.phases.push_back(
        phase_price(program, first, phase.steps, size, price->time, price->latency));
    first += phase.steps;
  }
  return first > 0 ? std::optional(together) : std::nullopt;
}

CollectiveSteps run_steps(const LaidProgram& laid, Bytes size,
                          const std::optional<StepsPrice>& price, Seconds latency,
                          const TopologyGraph& graph, const Topology& topology) {
  const TopologyGraph places = with_switches(graph, laid.switches);
  Routing routing(places, topology.balance, topology.seed);
  const std::vector<Bandwidth> left = left_capacities(topology, places.links);
  CollectiveSteps steps;
  steps.sends = send_count(laid.program);
  const auto finished = [&](const ProgramRun& run, CollectiveSteps::TooLong otherwise) {
    if (run.beyond_clock && steps.too_long == CollectiveSteps::TooLong::no) {
      steps.too_long = otherwise;
    }
    return run.time;
  };
  using TooLong = CollectiveSteps::TooLong;
  if (price) {
    CollectiveSteps::Priced& priced = steps.priced.emplace();
    priced.price = price->time;
    priced.assumed_sd = price->assumed_sd;
    priced.alone = finished(run_phases(laid.program, size, price->phases), TooLong::alone);
    priced.time =
        finished(run_phases(laid.program, size, price->phases, &routing, left), TooLong::on_links);
  }
  const SendPrice bare{latency, std::nullopt};
  const auto alpha_beta = [&](const Program& program) {
    const PhasePrice all{program.steps(), bare};
    return finished(run_phases(program, size, {&all, 1}, &routing, left), TooLong::on_links);
  };
  steps.alpha_beta = alpha_beta(laid.program);
  if (laid.program.segments() > 1) {
    steps.alpha_beta = std::min(steps.alpha_beta, alpha_beta(laid.whole));
  }
  return steps;
}

}  // namespace payoff::sim
