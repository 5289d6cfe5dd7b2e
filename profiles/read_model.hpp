// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/convnet.hpp"
#include "model/transformer.hpp"
#include "profiles/library.hpp"
#include "profiles/read_hardware.hpp"

// Models: transformers straight from a Hugging Face config.json (keys of the GPT-2, BERT, Llama,
// ViT, BLOOM and OPT families; unknown keys are ignored there only), and convolutional networks
// from per-layer tables.

namespace payoff {

// A table still lacks what training decides: the size of its activations.
struct ConvnetTable {
  std::string name;
  std::vector<ConvnetRow> rows;
};

using ModelDescription = std::variant<TransformerShape, ConvnetTable>;

// By the name of a shipped profile; `sequence` and the parameter count come from model/sources.yaml.
[[nodiscard]] std::optional<Profile<ModelDescription>> read_model(std::string_view name,
                                                                  std::optional<Span> asked,
                                                                  const ReadContext& context);

// Any file: *.json is a Hugging Face configuration, *.yaml a table of layers.
[[nodiscard]] std::optional<Profile<ModelDescription>> read_model_file(const std::filesystem::path& file,
                                                                       const ReadContext& context);

}  // namespace payoff
