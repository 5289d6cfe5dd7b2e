// SPDX-License-Identifier: Apache-2.0
#include "sim/collective_steps.hpp"

#include <algorithm>
#include <vector>

namespace payoff::sim {
namespace {

Outcome outcome_of(Collective collective) {
  return collective == Collective::all_gather       ? Outcome::gathered
         : collective == Collective::reduce_scatter ? Outcome::scattered_sums
                                                    : Outcome::all_reduced;
}

bool has_rings(Collective collective) {
  return collective == Collective::all_reduce || collective == Collective::all_gather ||
         collective == Collective::reduce_scatter;
}

}  // namespace

std::variant<Program, std::string> program_of(Collective collective, Algorithm algorithm, int ranks,
                                              const TopologyGraph& graph) {
  const auto n = static_cast<Rank>(ranks);
  if (ranks < 2) {
    return "one rank sends nothing";
  }
  if (graph.links.ranks() != n) {
    return "the topology has " + std::to_string(graph.links.ranks()) + " GPUs, the group " +
           std::to_string(n) + " ranks";
  }
  if (collective == Collective::all_to_all) {
    return Program(PairwiseProgram{n});
  }
  if (!has_rings(collective) || algorithm != Algorithm::ring) {
    return "no program for " + std::string(name(collective)) + " by " +
           std::string(name(algorithm));
  }
  const RegularLayout* regular = graph.regular ? &*graph.regular : nullptr;
  const Rank gpus = regular != nullptr ? regular->gpus_per_server() : n;
  if (regular != nullptr && gpus > 1 && regular->server().fabric == ServerFabric::mesh) {
    return std::string("rings follow the links of a mesh, and are not laid out on one");
  }
  if (gpus > 1 && gpus < n) {
    return Program(RailRingsProgram{n / gpus, gpus, outcome_of(collective)});
  }
  return Program(RingProgram{n, outcome_of(collective)});
}

CollectiveSteps run_steps(const Program& program, Bytes size, const CollectivePrice& price,
                          Routing& routing) {
  constexpr double below_all = 1 - 1e-6;
  const Seconds latency = std::min(price.latency, price.time * below_all);
  const SendPrice of_send = send_price(program, size, price.time, latency);
  CollectiveSteps steps;
  const ProgramRun on_links = run(program, size, of_send, &routing);
  steps.time = on_links.time;
  steps.sends = on_links.sends;
  steps.alone = run(program, size, of_send).time;
  // Links without a latency of their own get the law's.
  const bool has_latency = routing.latency(0, 1, 1) > 0_s;
  steps.alpha_beta =
      run(program, size, {has_latency ? 0_s : of_send.latency, std::nullopt}, &routing).time;
  return steps;
}

std::uint64_t send_count(const Program& program) {
  std::uint64_t count = 0;
  std::vector<Send> sends;
  for (std::uint32_t step = 0; step < program.steps(); ++step) {
    program.sends(step, sends);
    count += sends.size();
  }
  return count;
}

}  // namespace payoff::sim
