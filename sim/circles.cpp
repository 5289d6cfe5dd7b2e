// SPDX-License-Identifier: Apache-2.0
#include "sim/circles.hpp"

#include <algorithm>
#include <map>

#include "sim/grouped_ranks.hpp"

namespace payoff::sim {
namespace {

// The ranks of a group, node by node in the order in which they come: vertices of a graph.
using NodeMembers = std::vector<std::vector<Rank>>;

class CircleBuilder {
 public:
  CircleBuilder(const Incidence& incidence, Routing& routing, const CircleRules& rules)
      : incidence_(incidence), routing_(routing), rules_(rules) {
    for (std::uint32_t link = 0; link < incidence.links.size(); ++link) {
      link_of_edge_[incidence.links[link].edge] = link;
    }
    result_.of.resize(incidence.ranks.size());
    for (std::size_t place = 0; place < result_.of.size(); ++place) {
      result_.of[place] = {{place}, {place}, {}};
    }
  }

  // From ranks of the same place, over links between nodes.
  void add_graph(const NodeMembers& members, const Neighbours& neighbours) {
    for (std::size_t from = 0; from < members.size(); ++from) {
      for (const std::uint32_t to : neighbours[from]) {
        for (std::size_t i = 0; i < members[from].size(); ++i) {
          join(members[from][i], members[to][i], true);
        }
      }
    }
  }

  // Around a ring, whose links the message takes.
  void add_node(const std::vector<Rank>& node) {
    for (std::size_t i = 0; i < node.size(); ++i) {
      for (std::size_t back = 1; back < node.size(); ++back) {
        join(node[(i + node.size() - back) % node.size()], node[i], back == 1);
      }
    }
  }

  Circles take() {
    std::map<std::uint32_t, double> units;
    for (Circle& circle : result_.of) {
      result_.most = std::max(result_.most, circle.waits_for.size() - 1);
      for (const Incidence::Load& load : circle.loads) {
        units[load.link] += load.units;
      }
    }
    for (const auto& [link, all] : units) {
      if (const double known = known_bandwidth(link).si; known > 0) {
        result_.slowest = std::max(result_.slowest, all / known);
      }
    }
    return std::move(result_);
  }

 private:
  void join(Rank from, Rank to, bool sends) {
    result_.of[to].waits_for.push_back(from);
    result_.of[from].waited_by.push_back(to);
    if (!sends) {
      return;
    }
    for (const EdgeShare& part : routing_.route(from, to, flow_between(from, to))) {
      const auto link = link_of_edge_.find(part.edge);
      if (link == link_of_edge_.end()) {
        continue;  // of a way that no group takes
      }
      std::vector<Incidence::Load>& loads = result_.of[to].loads;
      const auto known = std::find_if(loads.begin(), loads.end(), [&](const Incidence::Load& load) {
        return load.link == link->second;
      });
      if (known == loads.end()) {
        loads.push_back({link->second, part.share});
      } else {
        known->units += part.share;
      }
    }
  }

  [[nodiscard]] Bandwidth known_bandwidth(std::uint32_t link) const {
    const Edge& edge = routing_.graph().links.edges()[incidence_.links[link].edge];
    if (incidence_.links[link].inside) {
      return edge.link_class == LinkClass::fabric ? std::max(edge.nominal, rules_.fabric)
                                                  : edge.nominal;
    }
    return edge.link_class == LinkClass::nic ? std::max(edge.nominal, rules_.nic) : Bandwidth{};
  }

  const Incidence& incidence_;
  Routing& routing_;
  const CircleRules& rules_;
  std::map<EdgeId, std::uint32_t> link_of_edge_;
  Circles result_;
};

}  // namespace

std::vector<Circles> circles_of(const std::vector<std::shared_ptr<const NodeGraph>>& graphs,
                                const Incidence& incidence, const std::vector<std::uint32_t>& nodes,
                                Routing& routing, const CircleRules& rules) {
  std::vector<Circles> result;
  for (std::size_t graph = 0; graph <= graphs.size(); ++graph) {
    CircleBuilder builder(incidence, routing, rules);
    const NodeGraph* of_nodes = graph < graphs.size() ? graphs[graph].get() : nullptr;
    const Neighbours neighbours =
        of_nodes != nullptr ? neighbours_of(of_nodes->graph, of_nodes->nodes) : Neighbours{};
    for (const Incidence::Channel& channel : incidence.channels) {
      if (channel.role != Incidence::Role::gradients) {
        continue;
      }
      const NodeMembers members =
          grouped_ranks(channel.members, [&](Rank rank) { return nodes[rank]; });
      if (graph == graphs.size()) {
        for (const std::vector<Rank>& node : members) {
          builder.add_node(node);
        }
      } else if (of_nodes != nullptr) {
        builder.add_graph(members, neighbours);
      }
    }
    result.push_back(builder.take());
  }
  return result;
}

}  // namespace payoff::sim
