// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "model/hardware.hpp"

// Number formats as profiles and experiments spell them.

namespace payoff {

inline constexpr std::array<std::pair<std::string_view, Precision>, precision_count>
    precision_names{{
        {"fp32", Precision::fp32},
        {"tf32", Precision::tf32},
        {"fp16", Precision::fp16},
        {"bf16", Precision::bf16},
        {"fp8", Precision::fp8},
    }};

}  // namespace payoff
