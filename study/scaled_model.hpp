// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "model/experiment.hpp"
#include "study/job_axis.hpp"

// The same job with a larger or smaller model of the same build: a transformer whose depth and
// width grow together by one factor, as the GPT-3 models do from 2.7 to 175 billion parameters
// (Brown et al. 2020, table 2.1: 80 to 128 columns a block), so that parameters grow by its cube.
// Heads keep their size, queries share keys as before, feed-forward and experts widen with the
// model; vocabulary, sequence, layout and batch stay. Depth and heads are whole numbers that the
// layout divides, so sizes come in steps. Not scaled: tables of layers, measured times of layers,
// latent attention and stages of stated sizes, whose numbers belong to one size.

namespace payoff {

// Why the model of this job has one size only; empty where it can be scaled.
[[nodiscard]] std::string_view unscalable(const Experiment& experiment);

// The size nearest to so many parameters; nullopt where the model cannot be scaled or the layout
// refuses it. Plans stay as they are, also those that it cannot have at that size.
[[nodiscard]] std::optional<Experiment> with_parameters(const Experiment& experiment,
                                                        double parameters);

// Of its model, which must be a transformer.
[[nodiscard]] double parameters_of(const Experiment& experiment);

// Different sizes from `low` to `high`, ascending, by their parameters: about so many a decade, and
// the model as it is where it lies between.
[[nodiscard]] std::vector<double> model_sizes(const Experiment& experiment, double low, double high,
                                              int per_decade);

// A size of the model between two others, near the middle; nullopt where there is none.
[[nodiscard]] std::optional<double> size_between(const Experiment& experiment, double low,
                                                 double high);

// x: parameters.
[[nodiscard]] JobAxis::Make size_axis(const Experiment& experiment);

}  // namespace payoff
