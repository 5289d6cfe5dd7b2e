// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "model/layout.hpp"
#include "profiles/library.hpp"
#include "profiles/read_hardware.hpp"

// Software stacks: what a framework does beyond the operators (profiles/software/NAME.yaml).

namespace payoff {

// Taken where an experiment names none.
inline constexpr std::string_view default_software = "pytorch-2";

[[nodiscard]] std::optional<Profile<Software>> read_software(std::string_view name,
                                                             std::optional<Span> asked,
                                                             const ReadContext& context);

}  // namespace payoff
