// SPDX-License-Identifier: Apache-2.0
#include "model/cube_part.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <set>
#include <variant>

#include "model/mesh_circles.hpp"

namespace payoff {
namespace {

constexpr int cube_gpus = 8;

// Links between the GPUs of a part, in numbers of its own.
struct Mesh {
  int gpus{};
  std::vector<int> links;

  [[nodiscard]] std::size_t at(int a, int b) const {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(gpus) +
           static_cast<std::size_t>(b);
  }
  [[nodiscard]] int between(int a, int b) const { return links[at(a, b)]; }
};

Mesh mesh_of(unsigned mask, bool single) {
  const std::vector<int> whole = cube_links(cube_gpus, single);
  std::vector<std::size_t> members;
  for (std::size_t gpu = 0; gpu < cube_gpus; ++gpu) {
    if ((mask >> gpu & 1U) != 0) {
      members.push_back(gpu);
    }
  }
  Mesh mesh{static_cast<int>(members.size()), {}};
  for (const std::size_t a : members) {
    for (const std::size_t b : members) {
      mesh.links.push_back(whole[a * cube_gpus + b]);
    }
  }
  return mesh;
}

// Four GPUs, each with one link to every other, have one circle with whole links and three with
// halves: those are searched for in parts of at most six, as sim/mesh_paths does for programs.
double links_in_circles(const Mesh& mesh) {
  if (mesh.gpus == 2) {
    return mesh.between(0, 1);
  }
  const std::size_t whole = mesh_circles(mesh.links, mesh.gpus).size();
  constexpr int most_halved = 6;
  std::size_t halves = 0;
  if (mesh.gpus <= most_halved) {
    std::vector<int> twice = mesh.links;
    std::for_each(twice.begin(), twice.end(), [](int& links) { links *= 2; });
    halves = mesh_circles(std::move(twice), mesh.gpus).size();
  }
  return 2.0 * std::max(static_cast<double>(whole), static_cast<double>(halves) / 2);
}

bool has_chain(const Mesh& mesh) {
  std::vector<int> order(static_cast<std::size_t>(mesh.gpus));
  std::iota(order.begin(), order.end(), 0);
  do {
    const auto gap = std::adjacent_find(order.begin(), order.end(),
                                        [&](int a, int b) { return mesh.between(a, b) == 0; });
    if (gap == order.end()) {
      return true;
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}

// Hops from every GPU to one; -1: cut off.
std::vector<int> hops_to(const Mesh& mesh, int to) {
  std::vector<int> hops(static_cast<std::size_t>(mesh.gpus), -1);
  std::vector<int> next{to};
  hops[static_cast<std::size_t>(to)] = 0;
  for (std::size_t i = 0; i < next.size(); ++i) {
    for (int gpu = 0; gpu < mesh.gpus; ++gpu) {
      if (mesh.between(next[i], gpu) > 0 && hops[static_cast<std::size_t>(gpu)] < 0) {
        hops[static_cast<std::size_t>(gpu)] = hops[static_cast<std::size_t>(next[i])] + 1;
        next.push_back(gpu);
      }
    }
  }
  return hops;
}

// What a part from `from` puts on links, by [a * gpus + b]: at every GPU divided over the links
// that lead nearer, by how many they are.
void send_part(const Mesh& mesh, const std::vector<int>& hops, int from, double part,
               std::vector<double>& load) {
  const int left = hops[static_cast<std::size_t>(from)];
  const auto leads_nearer = [&](int to) {
    return hops[static_cast<std::size_t>(to)] == left - 1 && mesh.between(from, to) > 0;
  };
  int together = 0;
  for (int to = 0; to < mesh.gpus; ++to) {
    together += leads_nearer(to) ? mesh.between(from, to) : 0;
  }
  for (int to = 0; to < mesh.gpus; ++to) {
    if (leads_nearer(to)) {
      const double share = part * mesh.between(from, to) / together;
      load[mesh.at(from, to)] += share;
      send_part(mesh, hops, to, share, load);
    }
  }
}

double links_in_exchange(const Mesh& mesh) {
  std::vector<double> load(mesh.links.size());
  for (int to = 0; to < mesh.gpus; ++to) {
    const std::vector<int> hops = hops_to(mesh, to);
    for (int from = 0; from < mesh.gpus; ++from) {
      if (hops[static_cast<std::size_t>(from)] < 0) {
        return 0;
      }
      send_part(mesh, hops, from, 1, load);
    }
  }
  double busiest = 0;
  for (std::size_t i = 0; i < load.size(); ++i) {
    busiest = mesh.links[i] > 0 ? std::max(busiest, load[i] / mesh.links[i]) : busiest;
  }
  return busiest > 0 ? (mesh.gpus - 1) / busiest : 0;
}

using Parts = std::array<CubePart, 1U << static_cast<unsigned>(cube_gpus)>;

Parts all_parts(bool single) {
  Parts parts;
  for (unsigned mask = 1; mask < parts.size(); ++mask) {
    const Mesh mesh = mesh_of(mask, single);
    parts[mask] = {links_in_circles(mesh), links_in_exchange(mesh), has_chain(mesh)};
  }
  return parts;
}

const CubePart& part_of(bool single, unsigned mask) {
  static const Parts of_single = all_parts(true);
  static const Parts of_double = all_parts(false);
  return (single ? of_single : of_double).at(mask);
}

unsigned mask_of(std::span<const int> gpus) {
  unsigned mask = 0;
  for (const int gpu : gpus) {
    mask |= 1U << static_cast<unsigned>(gpu);
  }
  return mask;
}

// The ranks of every group in a node, by their places there: neighbours, or `stride` apart.
template <class Visit>
void each_group(const Group& group, int local, int places, Visit visit) {
  const int stride = std::max(1, group.stride);
  for (int g = 0; g < std::max(1, group.rivals); ++g) {
    const int first = g / stride * stride * local + g % stride;
    if (first + (local - 1) * stride >= places) {
      if (g == 0) {
        visit(0, 1);
      }
      return;
    }
    visit(first, stride);
  }
}

const std::vector<std::vector<int>>& first_gpus() {
  static const std::vector<std::vector<int>> all{{0, 1, 2, 3, 4, 5, 6, 7}};
  return all;
}

// The GPUs of every group in a node.
template <class Visit>
void each_part(const Fabric& fabric, const Group& group, int local, Visit visit) {
  // Where a node got more ranks than the parts say, nothing is known of them.
  const bool is_known = std::all_of(
      fabric.parts.begin(), fabric.parts.end(),
      [&](const std::vector<int>& part) { return part.size() >= static_cast<std::size_t>(local); });
  const bool first = fabric.parts.empty() || !is_known;
  for (const std::vector<int>& part : first ? first_gpus() : fabric.parts) {
    each_group(group, local, static_cast<int>(part.size()), [&](int start, int stride) {
      std::array<int, cube_gpus> gpus{};
      for (int i = 0, place = start; i < local; ++i, place += stride) {
        gpus.at(static_cast<std::size_t>(i)) = part[static_cast<std::size_t>(place)];
      }
      visit(std::span<const int>(gpus).first(static_cast<std::size_t>(local)));
    });
  }
}

}  // namespace

// It has links to three GPUs of its half and one of the other half.
bool is_single_cube(const Fabric& fabric) {
  return std::lround(fabric.per_gpu / fabric.pair) <= (fabric.max_gpus > 4 ? 4 : 3);
}

std::vector<int> cube_links(int gpus, bool single) {
  const std::vector<int> whole = dgx1_volta_links();
  std::vector<int> links;
  links.reserve(static_cast<std::size_t>(gpus) * static_cast<std::size_t>(gpus));
  for (std::size_t a = 0; a < static_cast<std::size_t>(gpus); ++a) {
    for (std::size_t b = 0; b < static_cast<std::size_t>(gpus); ++b) {
      const int between = whole[a * cube_gpus + b];
      links.push_back(single ? std::min(between, 1) : between);
    }
  }
  return links;
}

const CubePart& cube_part(const Fabric& fabric, std::span<const int> gpus) {
  return part_of(is_single_cube(fabric), mask_of(gpus));
}

CubePart worst_cube_part(const Fabric& fabric, const Group& group, int local) {
  constexpr double all = std::numeric_limits<double>::infinity();
  CubePart worst{all, all, true};
  each_part(fabric, group, local, [&](std::span<const int> gpus) {
    const CubePart& of_group = cube_part(fabric, gpus);
    worst.in_circles = std::min(worst.in_circles, of_group.in_circles);
    worst.in_exchange = std::min(worst.in_exchange, of_group.in_exchange);
    worst.has_chain = worst.has_chain && of_group.has_chain;
  });
  return worst;
}

TreeRates worst_cube_trees(const Fabric& fabric, const Group& group, int local) {
  constexpr double all = std::numeric_limits<double>::infinity();
  TreeRates worst{all, all};
  each_part(fabric, group, local, [&](std::span<const int> gpus) {
    const Mesh mesh = mesh_of(mask_of(gpus), is_single_cube(fabric));
    const TreeRates of_group = tree_rates(mesh.links, mesh.gpus);
    worst.both_ways = std::min(worst.both_ways, of_group.both_ways);
    worst.one_way = std::min(worst.one_way, of_group.one_way);
  });
  return worst;
}

std::vector<std::vector<int>> cube_parts_of(const Fabric& fabric, const Topology& topology,
                                            std::span<const int> gpus, int per_node) {
  const auto* regular = std::get_if<RegularTopology>(&topology.shape);
  if (fabric.kind != FabricKind::hybrid_cube || regular == nullptr || per_node < 1 ||
      gpus.size() % static_cast<std::size_t>(per_node) != 0) {
    return {};
  }
  const Server& server = regular->server;
  if (server.fabric != ServerFabric::mesh || server.gpus > cube_gpus ||
      server.mesh != cube_links(server.gpus, is_single_cube(fabric))) {
    return {};
  }
  std::set<std::vector<int>> parts;
  for (std::size_t first = 0; first < gpus.size(); first += static_cast<std::size_t>(per_node)) {
    std::vector<int> part;
    for (const int gpu : gpus.subspan(first, static_cast<std::size_t>(per_node))) {
      if (gpu / server.gpus != gpus[first] / server.gpus) {
        return {};
      }
      part.push_back(gpu % server.gpus);
    }
    parts.insert(part);
  }
  return {parts.begin(), parts.end()};
}

}  // namespace payoff
