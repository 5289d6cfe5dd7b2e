// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "study/row_experiment.hpp"

// What sources call models, and the profiles that describe these: "ResNet50_v2 ImageNet" is
// resnet-50, "bert-large-uncased" is bert-large. A name decides a shape only where the row does not
// state it.

namespace payoff {

// Small letters and digits of a name, with the points between digits: "GPT-3 1.3B" is "gpt31.3b".
[[nodiscard]] std::string bare_name(std::string_view name);

// The count of parameters in a name: "GPT 7B", "opt-350m"; of a mixture ("8x7B", "30B-A3B") none.
[[nodiscard]] std::optional<double> parameters_in_name(std::string_view name);

// The profile of the network in the row's name, of the CIFAR variant where its name or its data set
// says so; empty: none.
[[nodiscard]] std::string convnet_profile(const TrainingModel& model,
                                          const RowCatalogue& catalogue);

// nullptr: no profile has this name, or the row's count of parameters is another one.
[[nodiscard]] const TransformerShape* named_transformer(const TrainingModel& model,
                                                        const RowCatalogue& catalogue);
[[nodiscard]] const TransformerShape* named_mixture(const TrainingModel& model,
                                                    const RowCatalogue& catalogue);

}  // namespace payoff
