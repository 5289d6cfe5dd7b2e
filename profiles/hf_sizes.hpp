// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "profiles/hf_dialects.hpp"
#include "profiles/json_object.hpp"

// Sizes of a Hugging Face configuration under the names that a family has for them.

namespace payoff {

// Of "a|b" the key that is there; the first one where neither is.
[[nodiscard]] std::string_view first_present(const JsonObject& config, std::string_view keys);

[[nodiscard]] std::int64_t size_of(const JsonObject& config, std::string_view keys,
                                   std::int64_t largest = hf::widest);

}  // namespace payoff
