// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace payoff {

// "3 GPUs", "1 GPU"
[[nodiscard]] std::string counted(std::int64_t count, std::string_view what);
template <std::unsigned_integral Count>
[[nodiscard]] std::string counted(Count count, std::string_view what) {
  return counted(static_cast<std::int64_t>(count), what);
}

}  // namespace payoff
