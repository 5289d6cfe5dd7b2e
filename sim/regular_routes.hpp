// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/regular_layout.hpp"

// Shortest routes of regular topologies in closed form: up and down in trees, minimal in a
// dragonfly (at most one global link), dimension by dimension in a torus. GPUs are counted server
// by server. Where there are several shortest routes, `choice` picks one of `route_count`.

namespace payoff::sim {

[[nodiscard]] std::uint32_t route_count(const RegularLayout& layout, std::uint32_t from,
                                        std::uint32_t to);

// The vertices passed, both ends included. Empty for two GPUs of a mesh that no link joins: those
// are the same few pairs in every server, and searched for.
[[nodiscard]] std::vector<VertexId> route(const RegularLayout& layout, std::uint32_t from,
                                          std::uint32_t to, std::uint32_t choice);

}  // namespace payoff::sim
