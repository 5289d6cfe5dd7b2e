// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "model/units.hpp"
#include "sim/program.hpp"
#include "sim/routing.hpp"

// What the links of a topology let packed trees carry: the slowest of them over what all trees
// together put on it, each with its part of the buffer.

namespace payoff::sim {

// In one server, all ways at once.
[[nodiscard]] Bandwidth rate_of(const TreesProgram& program, Routing& routing);

// Of the three phases across servers, in the order of their first ranks.
struct ServerRate {
  std::vector<Rank> ranks;  // of the server
  Bandwidth inside;         // one way of the first or last phase; zero in a server of one GPU
  // Of the shares of the buffer that have different roots, the most with one and the same root.
  std::size_t shares_of_root{};
};
[[nodiscard]] std::vector<ServerRate> server_rates(const ServerTreesProgram& program,
                                                   Routing& routing);

}  // namespace payoff::sim
