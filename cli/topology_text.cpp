// SPDX-License-Identifier: Apache-2.0
#include "cli/topology_text.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "cli/table.hpp"
#include "model/units_text.hpp"
#include "sim/bisection.hpp"

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

}  // namespace

std::string topology_text(const sim::TopologyGraph& graph) {
  const std::size_t ranks = graph.links.ranks();
  std::string text =
      fmt::format("{} GPUs; routes {}\n\n{}", ranks, graph.regular ? "in closed form" : "by search",
                  links_table(graph.links));
  if (ranks < 2) {
    return text;
  }
  const sim::Bisection cut = sim::bisection(graph.links);
  text += fmt::format("\nbisection bandwidth: {}{}, {} for each GPU of a half\n",
                      cut.exact ? "" : "at most ", to_text(cut.bandwidth),
                      to_text(cut.bandwidth / static_cast<double>(ranks / 2)));
  return text;
}

}  // namespace payoff
