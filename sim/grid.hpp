// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

#include "model/units.hpp"
#include "sim/sim_time.hpp"

// Rates and work as whole numbers on a fixed grid. A rate is a multiple of 1/64 byte/s, work a
// multiple of what that rate does in a picosecond. Sums, differences and the moment at which work
// ends are then exact: they depend neither on the order of the operands nor on how often a rate
// was looked at, which is what makes a folded simulation equal the unfolded one to the tick.
//
// Range: rates up to 1.4e17 byte/s, sizes up to 1.4e17 bytes. Rounding a rate to the grid changes
// it by less than 1e-8 from 1 MB/s up.

namespace payoff::sim {

// NOLINTNEXTLINE(modernize-use-using): an alias cannot carry the __extension__
__extension__ typedef unsigned __int128 Wide;

struct Rate {
  std::uint64_t units{};

  constexpr auto operator<=>(const Rate&) const = default;
};

struct Work {
  Wide units{};

  constexpr auto operator<=>(const Work&) const = default;
};

inline constexpr double rate_units_per_byte_per_second = 64.0;
inline constexpr std::uint64_t picoseconds_per_second = 1'000'000'000'000;
// Faster than anything that is on the grid: the rate of an activity that nothing bounds.
inline constexpr Rate unlimited_rate{std::uint64_t{1} << 63U};

// Of a number from zero to 2^63, halves upwards. Not std::round, which is a call.
[[nodiscard]] constexpr std::uint64_t nearest_whole(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  return static_cast<std::uint64_t>(whole) + (value - static_cast<double>(whole) >= 0.5 ? 1 : 0);
}

// The nearest rate, at least one unit; nothing for what is not positive or too large.
[[nodiscard]] std::optional<Rate> to_rate(Bandwidth bandwidth);
[[nodiscard]] Bandwidth to_bandwidth(Rate rate);

// To 1/64 byte, and not zero unless the size is; nothing for what is negative or too large.
[[nodiscard]] std::optional<Work> to_work(Bytes size);
[[nodiscard]] Bytes to_bytes(Work work);

[[nodiscard]] constexpr Work work_done(Rate rate, SimTime duration) {
  return {static_cast<Wide>(rate.units) * static_cast<std::uint64_t>(duration.picoseconds)};
}

// Rounded up to a picosecond; `never` when that is beyond the clock. The rate is positive.
[[nodiscard]] SimTime time_to_do(Work work, Rate rate);

}  // namespace payoff::sim
