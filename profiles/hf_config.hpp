// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "model/transformer.hpp"
#include "profiles/diagnostics.hpp"

// A transformer's shape from the text of a Hugging Face config.json. Understood: model_type gpt2,
// gpt_neox, gptj-free dense decoders, llama, mistral, opt, bloom, nemotron, bert, vit. Defaults are
// those of the family's configuration class; unknown keys are ignored here and nowhere else.
// Mixture-of-experts models are refused: their routing is not modelled.

namespace payoff {

[[nodiscard]] std::optional<TransformerShape> read_hf_config(Span text, const SourceMap& sources,
                                                             Diagnostics& diagnostics);

}  // namespace payoff
