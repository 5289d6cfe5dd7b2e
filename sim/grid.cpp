// SPDX-License-Identifier: Apache-2.0
#include "sim/grid.hpp"

namespace payoff::sim {
namespace {

constexpr double two_to_63 = 9223372036854775808.0;

// Units of 1/64; nothing unless 0 <= value < 2^57.
std::optional<std::uint64_t> grid_units(double value) {
  const double units = value * rate_units_per_byte_per_second;  // exact
  if (!(units >= 0.0) || units >= two_to_63) {  // the first is false for what is no number
    return std::nullopt;
  }
  const std::uint64_t whole = nearest_whole(units);
  return whole == 0 && units > 0.0 ? 1 : whole;
}

}  // namespace

std::optional<Rate> to_rate(Bandwidth bandwidth) {
  const auto units = grid_units(bandwidth.si);
  if (!units || *units == 0) {
    return std::nullopt;
  }
  return Rate{*units};
}

Bandwidth to_bandwidth(Rate rate) {
  return {static_cast<double>(rate.units) / rate_units_per_byte_per_second};
}

std::optional<Work> to_work(Bytes size) {
  const auto units = grid_units(size.si);
  if (!units) {
    return std::nullopt;
  }
  return Work{static_cast<Wide>(*units) * picoseconds_per_second};
}

Bytes to_bytes(Work work) {
  const auto units = static_cast<double>(work.units);
  return {units / static_cast<double>(picoseconds_per_second) / rate_units_per_byte_per_second};
}

SimTime time_to_do(Work work, Rate rate) {
  const Wide ticks = (work.units + (rate.units - 1)) / rate.units;
  const auto limit = static_cast<Wide>(static_cast<std::uint64_t>(never.picoseconds));
  return ticks >= limit ? never : SimTime{static_cast<std::int64_t>(ticks)};
}

}  // namespace payoff::sim
