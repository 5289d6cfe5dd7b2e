// SPDX-License-Identifier: Apache-2.0
#include "model/mesh_exchange.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace payoff {
namespace {

// Of the first GPUs of a Volta cube, in links of one pair: peers over what the busiest link carries
// for each of them, routes the shortest ones, on all of these by what they can carry. Seven and
// eight GPUs: 11/3 parts over a single link (tests/sim/mesh_paths_test counts them on the links).
constexpr std::array<double, 9> links_of_exchange{0, 0, 1, 2, 3, 2, 2.5, 18.0 / 11, 21.0 / 11};
// Of a P100's, which has single links between the same pairs: four parts over the busiest.
constexpr std::array<double, 9> links_of_single{0, 0, 1, 2, 3, 1, 1.25, 1.5, 1.75};

}  // namespace

// It has links to three GPUs of its half and one of the other half.
bool is_single_cube(const Fabric& fabric) {
  return std::lround(fabric.per_gpu / fabric.pair) <= (fabric.max_gpus > 4 ? 4 : 3);
}

Bandwidth exchange_bandwidth(const Cluster& cluster, const GroupPaths& paths) {
  const Fabric& fabric = cluster.fabric;
  if (fabric.kind != FabricKind::hybrid_cube || paths.local < 2) {
    return paths.gpu;
  }
  const auto local = static_cast<std::size_t>(std::clamp(paths.local, 0, 8));
  return fabric.pair * (is_single_cube(fabric) ? links_of_single : links_of_exchange).at(local);
}

}  // namespace payoff
