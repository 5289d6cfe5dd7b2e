// SPDX-License-Identifier: Apache-2.0
#include "sim/tree_rates.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "sim/program_steps.hpp"

namespace payoff::sim {
namespace {

// What trees put on the links of their routes, of a buffer that is 1.
class Loads {
 public:
  explicit Loads(Routing& routing)
      : routing_(routing), load_(routing.graph().links.edges().size()) {}

  // Of one rank to its parent in a tree, and back.
  void add(Rank rank, Rank parent, double share, detail::TreeWays ways) {
    if (parent != rank && ways.up) {
      pass(rank, parent, share);
    }
    if (parent != rank && ways.down) {
      pass(parent, rank, share);
    }
  }

  [[nodiscard]] Bandwidth rate() const {
    double longest = 0;  // seconds for a byte
    for (std::size_t e = 0; e < load_.size(); ++e) {
      longest = std::max(longest, load_[e] / routing_.graph().links.edges()[e].capacity.si);
    }
    return longest > 0 ? Bandwidth{1 / longest} : Bandwidth{};
  }

 private:
  void pass(Rank from, Rank to, double share) {
    for (const EdgeShare& link : routing_.route(from, to, flow_between(from, to))) {
      load_[link.edge] += share * link.share;
    }
  }

  Routing& routing_;
  std::vector<double> load_;
};

Rank root_of(const std::vector<Rank>& parent, Rank rank) {
  while (parent[rank] != rank) {
    rank = parent[rank];
  }
  return rank;
}

}  // namespace

Bandwidth rate_of(const TreesProgram& program, Routing& routing) {
  Loads loads(routing);
  for (const PackedTree& tree : program.packing.trees) {
    for (Rank rank = 0; rank < tree.parent.size(); ++rank) {
      loads.add(rank, tree.parent[rank], tree.rate / program.packing.rate,
                {program.outcome != Outcome::broadcast, program.outcome != Outcome::reduced});
    }
  }
  return loads.rate();
}

std::vector<ServerRate> server_rates(const ServerTreesProgram& program, Routing& routing) {
  std::map<Rank, ServerRate> servers;  // by the root of the first share there
  const std::vector<Rank>& first = program.parts.front().parent;
  for (Rank rank = 0; rank < first.size(); ++rank) {
    servers[root_of(first, rank)].ranks.push_back(rank);
  }
  // Parts of one share have the same roots everywhere.
  std::set<std::vector<Rank>> shares;
  for (auto& [unused, server] : servers) {
    Loads loads(routing);
    for (const ServerTreesProgram::Part& part : program.parts) {
      for (const Rank rank : server.ranks) {
        loads.add(rank, part.parent[rank], part.share, {false, true});
      }
    }
    server.inside = loads.rate();
  }
  for (const ServerTreesProgram::Part& part : program.parts) {
    std::vector<Rank> roots;
    roots.reserve(servers.size());
    for (const auto& [unused, server] : servers) {
      roots.push_back(root_of(part.parent, server.ranks.front()));
    }
    shares.insert(std::move(roots));
  }
  std::vector<ServerRate> rates;
  std::size_t place = 0;
  for (auto& [unused, server] : servers) {
    std::map<Rank, std::size_t> of_root;
    for (const std::vector<Rank>& roots : shares) {
      server.shares_of_root = std::max(server.shares_of_root, ++of_root[roots[place]]);
    }
    ++place;
    rates.push_back(std::move(server));
  }
  return rates;
}

}  // namespace payoff::sim
