// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/units_text.hpp"

// The text form of an axis: `8B..8GiB:x2` (each twice the one before), `0..100 us:+5us` (equal
// steps), `1,2,4,8` (a list), or a mixture such as `1,2,4..64:x2`. The upper end belongs to the
// series only where a step hits it, as in nccl-tests. Whole numbers may leave the step away
// (`1..8`). Values come in the order written and are not sorted.

namespace payoff {

// The problem of `10..100 Gb/s:x2`, whose first value has none.
inline constexpr std::string_view one_sided_unit = "has no unit at its first end";

// For the quantities of units_text.hpp, std::int64_t and double (a number or a ratio in %).
// Series of more than `limit` values are refused.
template <class T>
[[nodiscard]] Parsed<std::vector<T>> parse_series(std::string_view text,
                                                  std::size_t limit = 100'000);

extern template Parsed<std::vector<Seconds>> parse_series(std::string_view, std::size_t);
extern template Parsed<std::vector<Bytes>> parse_series(std::string_view, std::size_t);
extern template Parsed<std::vector<Bandwidth>> parse_series(std::string_view, std::size_t);
extern template Parsed<std::vector<Flops>> parse_series(std::string_view, std::size_t);
extern template Parsed<std::vector<FlopRate>> parse_series(std::string_view, std::size_t);
extern template Parsed<std::vector<std::int64_t>> parse_series(std::string_view, std::size_t);
extern template Parsed<std::vector<double>> parse_series(std::string_view, std::size_t);

}  // namespace payoff
