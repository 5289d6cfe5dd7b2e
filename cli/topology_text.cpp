// SPDX-License-Identifier: Apache-2.0
#include "cli/topology_text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/table.hpp"
#include "model/units_text.hpp"
#include "sim/bisection.hpp"
#include "sim/program_run.hpp"
#include "sim/tree_packing.hpp"

namespace payoff {
namespace {

struct ClassSum {
  std::size_t links = 0;
  Bandwidth least{std::numeric_limits<double>::infinity()};
  Bandwidth most{};
  Bandwidth together{};
};

std::string between(Bandwidth least, Bandwidth most) {
  return least == most ? to_text(least) : to_text(least) + " to " + to_text(most);
}

std::string links_table(const sim::LinkGraph& links) {
  std::array<ClassSum, sim::link_class_count> sums;
  for (const sim::Edge& edge : links.edges()) {
    ClassSum& sum = sums[static_cast<std::size_t>(edge.link_class)];
    ++sum.links;
    sum.least = std::min(sum.least, edge.capacity);
    sum.most = std::max(sum.most, edge.capacity);
    sum.together += edge.capacity;
  }
  Table table({{"links", Align::left}, {"one way"}, {"each"}, {"together"}});
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const ClassSum& sum = sums[i];
    if (sum.links > 0) {
      table.add({std::string(name(static_cast<sim::LinkClass>(i))), std::to_string(sum.links),
                 between(sum.least, sum.most), to_text(sum.together)});
    }
  }
  return table.empty() ? "" : table.markdown();
}

// Trees beside rings, where links join all GPUs directly: a mesh of a server, or of the user's own.
std::string trees_text(const sim::LinkGraph& links) {
  constexpr std::size_t most_gpus = 10;
  if (links.ranks() < 3 || links.ranks() > most_gpus) {
    return {};
  }
  std::vector<sim::Rank> ranks(links.ranks());
  std::iota(ranks.begin(), ranks.end(), sim::Rank{0});
  const auto mesh = sim::mesh_of(links, ranks);
  if (!mesh) {
    return {};
  }
  Bandwidth unit{std::numeric_limits<double>::infinity()};
  for (const sim::Edge& edge : mesh->edges()) {
    unit = std::min(unit, edge.capacity);
  }
  const auto line = [&](const char* what, sim::TreeUse use, Bandwidth bound) {
    const sim::TreePacking trees = sim::pack_few(*mesh, 0, use);
    return fmt::format("{} by {} packed trees: {}, no trees carry more than {}\n", what,
                       trees.trees.size(), to_text(trees.rate), to_text(bound));
  };
  const int rings = sim::ring_count(*mesh, unit);
  const auto n = static_cast<double>(links.ranks());
  return line("broadcast", sim::TreeUse::broadcast, sim::broadcast_bound(*mesh, 0)) +
         line("all-reduce", sim::TreeUse::all_reduce, sim::all_reduce_bound(*mesh)) +
         fmt::format("all-reduce by {} rings: {}\n", 2 * rings,
                     to_text(unit * (2.0 * rings * n / (2 * (n - 1)))));
}

// What collectives take on these links when every send is simulated and nothing else runs.
std::string collectives_text(const sim::TopologyGraph& graph, sim::Routing& routing) {
  constexpr std::size_t most_ranks = 128;
  const auto n = static_cast<sim::Rank>(graph.links.ranks());
  if (n < 2 || n > most_ranks) {
    return {};
  }
  std::vector<std::pair<std::string, sim::Program>> programs;
  programs.emplace_back("all-reduce", sim::RingProgram{n, sim::Outcome::all_reduced});
  if (std::has_single_bit(n)) {
    programs.emplace_back("all-reduce", sim::HalvingDoublingProgram{n});
  }
  programs.emplace_back("all-reduce", sim::DoubleTreeProgram{n, 32});
  programs.emplace_back("all-reduce", sim::TwoShotProgram{n});
  const sim::Rank gpus = graph.regular ? graph.regular->gpus_per_server() : n;
  if (gpus > 1 && gpus < n) {
    programs.emplace_back("all-reduce", sim::HierarchicalProgram{n / gpus, gpus});
    programs.emplace_back("all-to-all", sim::PxnProgram{n / gpus, gpus});
  }
  programs.emplace_back("all-gather", sim::BruckProgram{n});
  programs.emplace_back("all-to-all", sim::PairwiseProgram{n});
  Table table({{"collective", Align::left}, {"program", Align::left}, {"64 KiB"}, {"256 MiB"}});
  for (const auto& [collective, program] : programs) {
    table.add({collective, std::string(program.name()),
               to_text(sim::run(program, 64_KiB, {}, &routing).time),
               to_text(sim::run(program, 256_MiB, {}, &routing).time)});
  }
  return "\nnominal links and latencies, every send simulated:\n\n" + table.markdown();
}

}  // namespace

std::string topology_text(const sim::TopologyGraph& graph, Balance balance, std::uint64_t seed) {
  const std::size_t ranks = graph.links.ranks();
  std::string text =
      fmt::format("{} GPUs; routes {}\n\n{}", ranks, graph.regular ? "in closed form" : "by search",
                  links_table(graph.links));
  if (ranks < 2) {
    return text;
  }
  const sim::Bisection cut = sim::bisection(graph.links);
  const std::size_t half = ranks / 2;
  text += fmt::format("\nbisection bandwidth: {}{}, {} for each GPU of a half\n",
                      cut.exact ? "" : "at most ", to_text(cut.bandwidth),
                      to_text(cut.bandwidth / static_cast<double>(half)));
  sim::Routing routing(graph, balance, seed);
  return text + trees_text(graph.links) + collectives_text(graph, routing);
}

}  // namespace payoff
