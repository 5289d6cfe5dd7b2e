// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "model/units.hpp"

// The bands of size by which a fit counts a table of messages: to 64 KiB, to 256 MiB, beyond. The
// spread of a law is given for others (model/spread_band).

namespace payoff {

inline constexpr std::size_t size_band_count = 3;

[[nodiscard]] constexpr std::size_t size_band(Bytes size) {
  return size <= 64_KiB ? 0U : size <= 256_MiB ? 1U : 2U;
}

}  // namespace payoff
