// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "model/experiment.hpp"
#include "study/observed.hpp"

// What things are called in tables, files and sentences.

namespace payoff {

// Of a strategy by its label, where that stands alone: "uncompressed" of "none".
[[nodiscard]] std::string strategy_name(const std::string& label);
[[nodiscard]] std::string_view name_of(Precision precision);
[[nodiscard]] std::string_view name_of(MessageKind kind);
[[nodiscard]] std::string_view name_of(WorkKind kind);
[[nodiscard]] std::string_view name_of(Disagreement::Part part);

}  // namespace payoff
