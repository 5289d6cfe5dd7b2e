// SPDX-License-Identifier: Apache-2.0
#include "cli/topology_text.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "cli/counted.hpp"
#include "cli/table.hpp"
#include "model/units_text.hpp"
#include "sim/background.hpp"
#include "sim/bisection.hpp"
#include "sim/collective_programs.hpp"
#include "sim/collective_steps.hpp"
#include "sim/regular_bisection.hpp"
#include "sim/tree_packing.hpp"

namespace payoff {
namespace {

constexpr std::size_t most_cut = 8192;  // GPUs; the flows of more take minutes
constexpr std::size_t most_simulated = 128;

struct ClassSum {
  std::size_t links = 0;
  Bandwidth least{std::numeric_limits<double>::infinity()};
  Bandwidth most{};
  Bandwidth together{};

  void add(Bandwidth capacity) {
    least = std::min(least, capacity);
    most = std::max(most, capacity);
    together += capacity;
  }
};

std::string between(const ClassSum& sum) {
  return sum.least == sum.most ? to_text(sum.least)
                               : to_text(sum.least) + " to " + to_text(sum.most);
}

std::string links_table(const sim::LinkGraph& links, const std::vector<Bandwidth>& left,
                        bool with_left) {
  std::array<ClassSum, sim::link_class_count> sums;
  std::array<ClassSum, sim::link_class_count> left_sums;
  for (sim::EdgeId e = 0; e < links.edges().size(); ++e) {
    const sim::Edge& edge = links.edges()[e];
    const auto link_class = static_cast<std::size_t>(edge.link_class);
    ++sums[link_class].links;
    sums[link_class].add(edge.capacity);
    left_sums[link_class].add(left[e]);
  }
  std::vector<Column> columns{{"links", Align::left}, {"one way"}, {"each"}, {"together"}};
  if (with_left) {
    columns.push_back({"left by others"});
    columns.push_back({"together"});
  }
  Table table(columns);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const ClassSum& sum = sums[i];
    if (sum.links == 0) {
      continue;
    }
    std::vector<std::string> row{std::string(name(static_cast<sim::LinkClass>(i))),
                                 std::to_string(sum.links), between(sum), to_text(sum.together)};
    if (with_left) {
      row.push_back(between(left_sums[i]));
      row.push_back(to_text(left_sums[i].together));
    }
    table.add(std::move(row));
  }
  return table.empty() ? "" : table.markdown();
}

// The links as wide as the traffic of others leaves them.
sim::LinkGraph narrowed(const sim::LinkGraph& links, const std::vector<Bandwidth>& left) {
  std::vector<sim::Edge> edges = links.edges();
  std::vector<sim::VertexId> gpus;
  for (sim::EdgeId e = 0; e < edges.size(); ++e) {
    edges[e].capacity = left[e];
  }
  for (sim::Rank r = 0; r < links.ranks(); ++r) {
    gpus.push_back(links.gpu(r));
  }
  return {links.vertices(), std::move(edges), std::move(gpus)};
}

std::string too_many(std::size_t gpus, std::size_t most) {
  return fmt::format("{} GPUs are more than {}", gpus, most);
}

std::string bisection_text(const sim::LinkGraph& links) {
  const std::size_t half = links.ranks() / 2;
  const sim::Bisection cut = sim::bisection(links);
  return fmt::format("\nbisection bandwidth: {}{}, {} for each GPU of a half, by max-flow\n",
                     cut.exact ? "" : "at most ", to_text(cut.bandwidth),
                     to_text(cut.bandwidth / static_cast<double>(half)));
}

// Where flows would take too long.
std::string closed_bisection_text(const Topology& topology) {
  const auto found = sim::regular_bisection(topology);
  if (const auto* why = std::get_if<std::string>(&found)) {
    return fmt::format(
        "bisection bandwidth: not worked out, {}, and flows between halves take too long; no "
        "closed form: {}\n",
        too_many(topology.gpus(), most_cut), *why);
  }
  const Bandwidth cut = std::get<Bandwidth>(found);
  return fmt::format(
      "bisection bandwidth: at most {}, {} for each GPU of a half, in closed form for a regular "
      "network\n",
      to_text(cut), to_text(cut / (static_cast<double>(topology.gpus()) / 2)));
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
    return fmt::format("{} by {}: {}, no trees carry more than {}\n", what,
                       counted(trees.trees.size(), "packed tree"), to_text(trees.rate),
                       to_text(bound));
  };
  const std::string broadcast =
      line("broadcast", sim::TreeUse::broadcast, sim::broadcast_bound(*mesh, 0));
  // Where links go one way only, sums cannot come back the way that they went up.
  const Bandwidth bound = sim::all_reduce_bound(*mesh);
  if (bound <= Bandwidth{}) {
    return broadcast +
           "all-reduce by packed trees or rings both ways: none, as links in both directions do "
           "not join all GPUs\n";
  }
  const int rings = sim::ring_count(*mesh, unit);
  const auto n = static_cast<double>(links.ranks());
  return broadcast + line("all-reduce", sim::TreeUse::all_reduce, bound) +
         (rings == 0 ? "all-reduce by rings: none, as links in both directions make no circle\n"
                     : fmt::format("all-reduce by {} rings: {}\n", 2 * rings,
                                   to_text(unit * (2.0 * rings * n / (2 * (n - 1))))));
}

struct NamedProgram {
  std::string_view collective;
  sim::LaidOrReason laid;
};

// Two trees over all GPUs, where servers do not make rails of them.
sim::LaidProgram double_tree(sim::Rank ranks) {
  sim::Program whole(sim::DoubleTreeProgram{ranks, 1});
  return {sim::Program(sim::DoubleTreeProgram{ranks, 8 * whole.steps()}), whole, {}};
}

std::vector<NamedProgram> programs_on(const Topology& topology, const sim::TopologyGraph& graph) {
  const auto n = static_cast<int>(graph.links.ranks());
  const sim::ProgramRanks ranks = sim::ranks_on(topology, {n, n, 1});
  const bool rails = ranks.gpus > 1 && ranks.gpus < ranks.ranks;
  const auto of_nccl = [&](Algorithm algorithm) {
    return sim::program_of(Collective::all_reduce, algorithm, ranks, topology, graph);
  };
  std::vector<NamedProgram> programs;
  programs.push_back({"all-reduce", of_nccl(Algorithm::ring)});
  programs.push_back({"all-reduce", rails ? of_nccl(Algorithm::tree)
                                          : sim::LaidOrReason(double_tree(ranks.ranks))});
  using sim::OtherProgram;
  for (const auto& [collective, program] :
       std::initializer_list<std::pair<std::string_view, OtherProgram>>{
           {"all-reduce", OtherProgram::packed_trees},
           {"all-reduce", OtherProgram::halving_doubling},
           {"all-reduce", OtherProgram::hierarchical},
           {"all-reduce", OtherProgram::two_shot},
           {"all-gather", OtherProgram::bruck},
           {"all-to-all", OtherProgram::pxn}}) {
    programs.push_back({collective, sim::program_of(program, ranks, topology, graph)});
  }
  sim::ProgramDetails broadcast;
  broadcast.collective = Collective::broadcast;
  programs.push_back({"broadcast", sim::program_of(Collective::broadcast, Algorithm::ring, ranks,
                                                   topology, graph)});
  programs.push_back({"broadcast", sim::program_of(OtherProgram::packed_trees, ranks, topology,
                                                   graph, broadcast)});
  programs.push_back({"all-to-all", sim::program_of(Collective::all_to_all, Algorithm::pairwise,
                                                    ranks, topology, graph)});
  return programs;
}

// What collectives take on these links when every send is simulated and nothing else of the job
// runs; what may be cut into segments, cut or whole, whichever is sooner through.
std::string collectives_text(const Topology& topology, const sim::TopologyGraph& graph) {
  if (graph.links.ranks() > most_simulated) {
    return "\ncollectives are not simulated: " + too_many(graph.links.ranks(), most_simulated) +
           " (payoff collective --level steps)\n";
  }
  Table table({{"collective", Align::left}, {"program", Align::left}, {"64 KiB"}, {"256 MiB"}});
  for (const NamedProgram& named : programs_on(topology, graph)) {
    const auto* laid = std::get_if<sim::LaidProgram>(&named.laid);
    if (laid == nullptr) {
      continue;  // no program for these ranks
    }
    const auto time = [&](Bytes size) {
      const auto steps = sim::run_steps(*laid, size, std::nullopt, 0_s, graph, topology);
      const bool ends = steps.too_long == sim::CollectiveSteps::TooLong::no;
      return ends ? to_text(steps.alpha_beta) : std::string("> 106 days");
    };
    table.add({std::string(named.collective), std::string(laid->program.name()), time(64_KiB),
               time(256_MiB)});
  }
  return fmt::format("\nnominal links and latencies{}, every send simulated:\n\n{}",
                     has_background(topology) ? " beside the traffic of others" : "",
                     table.markdown());
}

}  // namespace

std::optional<std::string> text_without_links(const Topology& topology) {
  if (topology.gpus() <= most_cut) {
    return std::nullopt;
  }
  return fmt::format("{} GPUs\n\n{}links: not listed, {}\n", topology.gpus(),
                     closed_bisection_text(topology), too_many(topology.gpus(), most_cut));
}

std::string topology_text(const Topology& topology, const sim::TopologyGraph& graph) {
  const std::size_t ranks = graph.links.ranks();
  const std::vector<Bandwidth> left = sim::left_capacities(topology, graph.links);
  std::string text = fmt::format("{}; routes {}\n\n{}", counted(ranks, "GPU"),
                                 graph.regular ? "in closed form" : "by search",
                                 links_table(graph.links, left, has_background(topology)));
  if (ranks < 2) {
    return text;
  }
  text += bisection_text(narrowed(graph.links, left));
  // Trees and rings are laid on links as they are described, like routes.
  const std::string trees = trees_text(graph.links);
  return text +
         (has_background(topology) && !trees.empty() ? "without the traffic of others:\n" : "") +
         trees + collectives_text(topology, graph);
}

}  // namespace payoff
