// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "model/compression.hpp"
#include "model/hardware.hpp"
#include "profiles/document.hpp"
#include "profiles/fact.hpp"
#include "profiles/section.hpp"

// What the readers of fitted and of measured laws share (internal to them).

namespace payoff {

// Efficiencies and factors of laws stay below this; anything larger is a slip.
inline constexpr RatioRules factor_rules{.fallback = 0.0, .min = 0.0, .max = 1e6};

// Only one entry and the citations: the file holds the laws of everything else too. Its key is
// `law`, so that facts are named "law. ...".
[[nodiscard]] Node part_of(const Node& root, const Entry& entry);

// Absent where nobody measured such a kernel.
template <typename Amount>
[[nodiscard]] FitRange<Amount> read_range(const Value& value) {
  if (!value) {
    return {};
  }
  const Section range = value.section();
  return {range.required("smallest").quantity<Amount>(),
          range.required("largest").quantity<Amount>()};
}

// What is measured takes the place of what was known before, number by number.
void replace_fact(Facts& facts, const std::string& path);

// Empty where nobody published a step of the GPU.
[[nodiscard]] KernelAmounts read_amounts(const Value& value);

}  // namespace payoff
