// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/convnet.hpp"
#include "model/recommender.hpp"
#include "model/transformer.hpp"
#include "profiles/library.hpp"
#include "profiles/read_hardware.hpp"

// Models: transformers straight from a Hugging Face config.json (profiles/hf_config.hpp),
// convolutional networks from tables of their layers, and recommenders from the widths of their
// layers and the sizes of their tables (profiles/model/README.md).

namespace payoff {

// A table still lacks what training decides: the size of its activations.
struct ConvnetTable {
  std::string name;
  std::vector<ConvnetRow> rows;
};

using ModelDescription = std::variant<TransformerShape, ConvnetTable, RecommenderShape>;

// By the name of a shipped profile, whose training length and source are in model/sources.yaml; or
// by the path of a file.
[[nodiscard]] std::optional<Profile<ModelDescription>> read_model(std::string_view name,
                                                                  std::optional<Span> asked,
                                                                  const ReadContext& context);

// Any file: *.json is a Hugging Face configuration, everything else says its family. Throws
// std::runtime_error when it cannot be read.
[[nodiscard]] std::optional<Profile<ModelDescription>> read_model_file(
    const std::filesystem::path& file, const ReadContext& context);

}  // namespace payoff
