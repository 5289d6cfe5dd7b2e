// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/unit_tables.hpp"

// Finding units, and what was meant by one that does not exist: `Gbps`, `Gbit/s`, `MBytes`,
// `TFLOPS`, `µs`, `sec`, `gb/s`. Private to units_text.cpp.

namespace payoff::detail {

[[nodiscard]] const Unit* find_unit(const Dimension& dimension, std::string_view name);

// The units of this dimension that the writer may have meant.
[[nodiscard]] std::vector<std::string_view> meant_units(std::string_view unit,
                                                        const Dimension& dimension);

// "units of a time: s, ms, ..."
[[nodiscard]] std::string list_of_units(const Dimension& dimension);

}  // namespace payoff::detail
