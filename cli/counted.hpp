// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace payoff {

// "3 GPUs", "1 GPU"
[[nodiscard]] std::string counted(std::int64_t count, std::string_view what);

}  // namespace payoff
