// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "model/units.hpp"

// The bands of size that the spread of a link's law is given for (LinkLaw::relative_sd_*): to
// 64 KiB latency rules, from 4 MiB bandwidth, between them both. 4 MiB is the geometric mean of
// 64 KiB and 256 MiB, the ends of the band in which a fit counts such sizes (calibrate/size_band).

namespace payoff {

inline constexpr std::size_t spread_band_count = 3;
inline constexpr std::array<const char*, spread_band_count> spread_band_names{"small", "middle",
                                                                              "large"};

// One standard deviation of the logarithm of a time, by band.
using BandSds = std::array<double, spread_band_count>;

[[nodiscard]] constexpr std::size_t spread_band(Bytes size) {
  return size <= 64_KiB ? 0U : size <= 4_MiB ? 1U : 2U;
}

}  // namespace payoff
