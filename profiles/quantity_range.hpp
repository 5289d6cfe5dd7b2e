// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/units_text.hpp"

// What a quantity can sensibly be. The ranges are far wider than any machine: what lies outside is
// a slip of the keyboard or of the unit, and would print as `inf` or as thirty digits.

namespace payoff {

template <class Q>
struct QuantityRange {
  Q least{};
  Q most{};
  std::string_view text;  // what has this range, and the range: told when it is left
};

inline constexpr QuantityRange<Bandwidth> nic_rates{Bandwidth{1e3 / 8}, Bandwidth{1e15 / 8},
                                                    "the rate of one NIC: 1 Kb/s to 1000 Tb/s"};
inline constexpr QuantityRange<Bandwidth> fabric_rates{
    Bandwidth{1e3}, Bandwidth{1e15}, "the links of one GPU together: 1 KB/s to 1000 TB/s"};
inline constexpr QuantityRange<Bandwidth> link_rates{Bandwidth{1e3 / 8}, Bandwidth{1e14},
                                                     "one link: 1 Kb/s to 100 TB/s"};
inline constexpr QuantityRange<Seconds> link_latencies{0_s, Seconds{60.0},
                                                       "one link: 0 s to 1 min"};
inline constexpr QuantityRange<Seconds> way_latencies{0_s, Seconds{10.0},
                                                      "the way between two nodes: 0 s to 10 s"};
inline constexpr QuantityRange<Bytes> bucket_sizes{1_B, 1024.0 * 1_GiB,
                                                   "one bucket of gradients: 1 B to 1 TiB"};
inline constexpr QuantityRange<Bytes> message_sizes{0_B, 1024.0 * 1024.0 * 1_GiB,
                                                    "one collective: 0 B to 1024 TiB"};
inline constexpr QuantityRange<Bandwidth> storage_rates{
    Bandwidth{1e3}, Bandwidth{1e15}, "what is written to storage or memory: 1 KB/s to 1000 TB/s"};
inline constexpr QuantityRange<Bytes> checkpoint_sizes{1_B, 1024.0 * 1024.0 * 1_GiB,
                                                       "one checkpoint: 1 B to 1024 TiB"};
inline constexpr QuantityRange<Seconds> step_times{10_us, Seconds{86400.0},
                                                   "one training step: 10 us to 24 h"};
inline constexpr QuantityRange<Seconds> parts_of_steps{0_s, Seconds{86400.0},
                                                       "a part of one training step: 0 s to 24 h"};

// The error for a value outside; `text` is how it was written.
template <class Q>
[[nodiscard]] std::optional<TextError> out_of_range(const QuantityRange<Q>& range, Q value,
                                                    std::string_view text) {
  if (range.least <= value && value <= range.most) {
    return std::nullopt;
  }
  TextError error;
  error.problem = value < range.least ? "is too small" : "is too large";
  error.label = range.text;
  error.length = text.size();
  return error;
}

}  // namespace payoff
