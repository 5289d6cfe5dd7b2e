// SPDX-License-Identifier: Apache-2.0
#include "profiles/plan_graph.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "model/method_on_graph.hpp"
#include "model/units_text.hpp"
#include "profiles/read_gossip.hpp"
#include "profiles/suggest.hpp"

namespace payoff {
namespace {

// Edges as text, joined by /.
class EdgeList {
 public:
  EdgeList(const PlanPiece& value, Diagnostics& diagnostics)
      : value_(value), diagnostics_(diagnostics) {}

  std::optional<ExchangeGraph> read() {
    const std::string& text = value_.text;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find('/', begin), text.size());
      read_edge({text.substr(begin, end - begin),
                 {value_.span.source, value_.span.offset + begin, end - begin}});
      begin = end + 1;
    }
    if (wrong_) {
      return std::nullopt;
    }
    ExchangeGraph graph{ExchangeShape::own, 0, 0, {}, text};
    graph.own.resize(edges_.empty() ? 0 : vertices_);
    for (const auto& [from, to] : edges_) {
      graph.own[from].push_back(to);
    }
    return graph;
  }

 private:
  void read_edge(const PlanPiece& edge) {
    const std::size_t sign = edge.text.find_first_of("->");
    if (sign == std::string::npos) {
      refuse(edge, "is no edge", "write `0-1` for an edge both ways, `0>1` for one way");
      return;
    }
    const IntegerRange range{0, most_gossip_ranks - 1};
    const auto from = parse_integer(edge.text.substr(0, sign), range);
    const auto to = parse_integer(edge.text.substr(sign + 1), range);
    if (!from || !to) {
      refuse(edge, "is no edge between two nodes", "nodes are numbered from 0 on");
      return;
    }
    if (*from == *to) {
      refuse(edge, "joins node " + std::to_string(*from) + " to itself",
             "every node keeps its own model: leave it away");
      return;
    }
    add(edge, static_cast<std::uint32_t>(*from), static_cast<std::uint32_t>(*to),
        edge.text[sign] == '-');
  }

  void add(const PlanPiece& edge, std::uint32_t from, std::uint32_t to, bool back) {
    const bool twice = !edges_.emplace(from, to).second;
    if ((back && !edges_.emplace(to, from).second) || twice) {
      refuse(edge, "is there twice: nodes " + std::to_string(from) + " and " + std::to_string(to),
             "name every edge once");
    }
    vertices_ = std::max<std::size_t>({vertices_, from + std::size_t{1}, to + std::size_t{1}});
  }

  void refuse(const PlanPiece& edge, const std::string& what, const std::string& help) {
    diagnostics_.error(edge.span, "`graph`: " + backquoted(edge.text) + " " + what, "", help);
    wrong_ = true;
  }

  const PlanPiece& value_;
  Diagnostics& diagnostics_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> edges_;
  std::size_t vertices_{};
  bool wrong_{};
};

std::optional<ExchangeGraph> graph_in_file(const PlanPiece& value, const ReadContext& context) {
  Diagnostics& diagnostics = context.diagnostics;
  const std::size_t errors = diagnostics.error_count();
  std::optional<ReadGossip> read;
  try {
    const auto file = own_file(value.text, value.span, context.sources);
    read = read_gossip(file, context.sources, diagnostics);
  } catch (const std::runtime_error& error) {  // it cannot be read
    diagnostics.error(value.span, error.what());
  }
  if (!read || diagnostics.error_count() > errors) {
    return std::nullopt;
  }
  return ExchangeGraph{ExchangeShape::own, 0, 0, std::move(read->neighbours), value.text};
}

}  // namespace

std::optional<ExchangeGraph> read_graph(const PlanPiece& value, const ReadContext& context) {
  if (is_own_file(value.text)) {
    return graph_in_file(value, context);
  }
  std::vector<std::string> known;
  for (const auto& [name, shape] : exchange_shapes) {
    if (value.text == name) {
      return ExchangeGraph{shape, 0, 0, {}, {}};
    }
    known.emplace_back(name);
  }
  if (value.text.find_first_of("0123456789") == 0) {
    return EdgeList(value, context.diagnostics).read();
  }
  context.diagnostics.error(value.span, "`graph` has the unknown value " + backquoted(value.text),
                            did_you_mean(closest(value.text, known)),
                            "one of: " + listed(known) +
                                "; a .yaml file of kind `gossip`; or edges as "
                                "`0-1/1-2/2-0`");
  return std::nullopt;
}

void check_graph_options(const WrittenPlan& written, PlanPart& part, Diagnostics& diagnostics) {
  const std::string method = backquoted(written.method.text);
  const auto seed = part.options.find("graph_seed");
  if (!part.graph) {
    if (seed != part.options.end()) {
      diagnostics.error(seed->second, "`graph_seed` is of a random graph, and there is none", "",
                        "add `graph=random`");
    }
    return;
  }
  if (!has_neighbours(part.method)) {
    diagnostics.error(part.options.at("graph"), method + " has no neighbours: all send to all", "",
                      "`graph` is of methods with a parameter `neighbours`, as `gossip`");
    return;
  }
  const bool random = part.graph->shape == ExchangeShape::random;
  if (!random && seed != part.options.end()) {
    diagnostics.error(seed->second, "`graph_seed` is of `graph=random`", "", "leave it out");
  }
  for (const PlanAssignment& given : written.assignments) {
    if (!random && given.name.text == "neighbours") {
      diagnostics.error(given.name.span, "`neighbours` follow from the graph", "",
                        "leave it out, or use `graph=random`");
    }
  }
  part.method.graph = part.graph;
  if (random) {
    part.method.graph->degree = static_cast<int>(part.method.parameters.at("neighbours"));
    part.method.graph->seed = static_cast<std::uint64_t>(part.graph_seed);
  }
}

}  // namespace payoff
