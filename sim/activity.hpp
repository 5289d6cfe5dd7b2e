// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "model/problem.hpp"
#include "model/units.hpp"
#include "sim/sim_time.hpp"

// The words in which a simulation is told what to do. A resource has a bandwidth: a link, a NIC, a
// backplane, PCIe. An activity is a number of bytes that pass through resources: a send, a fluid
// collective. The memory of a GPU has a closed form (model/interference.hpp). An activity pays its
// latency first, using nothing, and then shares bandwidth until its bytes are through.

namespace payoff::sim {

struct ResourceId {
  std::uint32_t index{};

  constexpr auto operator<=>(const ResourceId&) const = default;
};

enum class Sharing : std::uint8_t {
  shared,    // what its users take adds up to the capacity at most
  fat_pipe,  // each of its users may take the whole capacity
};

struct Resource {
  Bandwidth capacity = {};
  Sharing sharing = Sharing::shared;
};

// A share of an activity is kept in units of 2^-24, in 40 bits; `usage_ratio` in units of 2^-32,
// in 48.
inline constexpr double least_share = 1.0 / 65536.0;
inline constexpr double most_share = 65535.0;

// What is to fit a resource alone uses so much less of it, because usages, shares and rates are
// rounded.
inline constexpr double below_rounding = 1 - 1e-9;

// How many bytes pass through the resource for each byte of the activity.
struct Use {
  ResourceId resource;
  double usage_ratio = 1.0;
};

inline constexpr Bandwidth no_rate_bound{std::numeric_limits<double>::infinity()};

struct Activity {
  Bytes size = {};
  std::span<const Use> uses = {};  // copied; the same resource twice counts as the sum
  Bandwidth rate_bound = no_rate_bound;
  double share_ratio =
      1.0;  // of two users of one bottleneck, one with twice the share is twice as fast
  SimTime latency{};
  // Class-invariant: equal for activities that play the same part on different ranks. Orders what
  // happens in the same picosecond, and is what the trace hash sees.
  std::uint64_t key = 0;
  std::uint64_t tag = 0;  // the caller's; handed back on completion
};

// Names a running activity; stale once it has completed or was cancelled.
struct ActivityId {
  std::uint32_t slot{};
  std::uint32_t generation{};

  constexpr auto operator<=>(const ActivityId&) const = default;
};

struct Completion {
  std::uint64_t key{};
  std::uint64_t tag{};
  ActivityId activity;  // already stale

  constexpr auto operator<=>(const Completion&) const = default;
};

// What cannot be simulated, all of it. What passes can be handed to an Engine.
[[nodiscard]] Problems check(const Resource& resource, std::string_view path);
[[nodiscard]] Problems check(const Activity& activity, std::string_view path);

}  // namespace payoff::sim
