// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "model/mesh_circles.hpp"
#include "sim/invariant.hpp"
#include "sim/tree_packing.hpp"

// What no packing of trees exceeds, and what rings reach, by counting all cases of small meshes.

namespace payoff::sim {
namespace {

// Of the narrower direction, between every two vertices.
std::vector<double> both_directions(const LinkGraph& mesh) {
  const std::size_t n = mesh.vertices().size();
  PAYOFF_INVARIANT(n <= most_counted_gpus,
                   "all cases of a mesh are counted that is too large for it");
  std::vector<double> capacity(n * n);
  for (const Edge& edge : mesh.edges()) {
    const auto back = mesh.find(edge.to, edge.from);
    capacity[edge.from * n + edge.to] =
        back ? std::min(edge.capacity, mesh.edges()[*back].capacity).si : 0.0;
  }
  return capacity;
}

// Partitions of 0 .. n - 1 as numbers of parts, in restricted growth.
template <class Visit>
void each_partition(std::vector<std::size_t>& part, std::size_t at, std::size_t parts,
                    Visit&& visit) {
  if (at == part.size()) {
    visit(parts);
    return;
  }
  for (part[at] = 0; part[at] <= parts; ++part[at]) {
    each_partition(part, at + 1, std::max(parts, part[at] + 1), visit);
  }
}

}  // namespace

Bandwidth all_reduce_bound(const LinkGraph& mesh) {
  const std::vector<double> capacity = both_directions(mesh);
  const std::size_t n = mesh.vertices().size();
  std::vector<std::size_t> part(n);
  double least = std::numeric_limits<double>::infinity();
  each_partition(part, 0, 0, [&](std::size_t parts) {
    double cut = 0;
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        cut += part[a] != part[b] ? capacity[a * n + b] : 0.0;
      }
    }
    least = parts > 1 ? std::min(least, cut / static_cast<double>(parts - 1)) : least;
  });
  return {least};
}

std::vector<std::vector<Rank>> rings(const LinkGraph& mesh, Bandwidth unit) {
  std::vector<int> links;
  for (const double capacity : both_directions(mesh)) {
    links.push_back(static_cast<int>(std::floor(capacity / unit.si + 1e-6)));
  }
  std::vector<std::vector<Rank>> orders;
  for (const std::vector<int>& circle :
       mesh_circles(std::move(links), static_cast<int>(mesh.vertices().size()))) {
    orders.emplace_back(circle.begin(), circle.end());
  }
  return orders;
}

int ring_count(const LinkGraph& mesh, Bandwidth unit) {
  return static_cast<int>(rings(mesh, unit).size());
}

}  // namespace payoff::sim
