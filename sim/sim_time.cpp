// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_time.hpp"

#include <cmath>
#include <string>

namespace payoff::sim {

std::optional<SimTime> to_sim_time(Seconds time) {
  const double picoseconds = std::round(time.si * 1e12);
  // 2^63 is the first double that does not fit.
  if (std::isnan(picoseconds) || time.si < 0.0 || picoseconds >= 9223372036854775808.0) {
    return std::nullopt;
  }
  return SimTime{static_cast<std::int64_t>(picoseconds)};
}

Problem beyond_clock(std::string_view path) {
  return {std::string(path), "the simulated time passes the end of the clock, 106 days",
          "simulate a shorter stretch, or look for a rate or a size with a wrong unit"};
}

}  // namespace payoff::sim
