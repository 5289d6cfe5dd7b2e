// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <variant>

#include "model/experiment.hpp"
#include "profiles/read_hardware.hpp"
#include "profiles/section.hpp"

// The `model` section of an experiment: a profile or a file of the user's own, and the tokens of a
// sample.

namespace payoff {

// Empty when there is no model; what is wrong is reported. `precision` is that of activations.
[[nodiscard]] std::optional<Profile<std::variant<TransformerShape, Workload>>> read_model_section(
    const Section& section, Precision precision, const ReadContext& context);

}  // namespace payoff
