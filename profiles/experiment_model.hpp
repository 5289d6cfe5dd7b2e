// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "model/experiment.hpp"
#include "profiles/read_hardware.hpp"
#include "profiles/section.hpp"

// The `model` section of an experiment: a profile or a file of the user's own, the tokens of a
// sample, and a table of measured times of its layers (`layer_times`).

namespace payoff {

struct ModelSection {
  Model value;
  Facts facts;
  LayerTimes layer_times;
};

// Empty when there is no model; what is wrong is reported. `precision` is that of activations.
[[nodiscard]] std::optional<ModelSection> read_model_section(const Section& section,
                                                             Precision precision,
                                                             const ReadContext& context);

}  // namespace payoff
