// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "model/transformer.hpp"
#include "profiles/diagnostics.hpp"

// A transformer's shape from the text of a Hugging Face config.json. Understood: the decoders with
// a language-model head of profiles/hf_dialects, bert, roberta and vit (with the head that
// `architectures` names), t5 and mt5 (an encoder with a decoder). Keys that a config
// leaves out have the defaults of the family's configuration class; unknown keys are ignored here
// and nowhere else. What has other layers than these (cross-attention of others, embeddings of
// another width) is refused.

namespace payoff {

[[nodiscard]] std::optional<TransformerShape> read_hf_config(Span text, const SourceMap& sources,
                                                             Diagnostics& diagnostics);

}  // namespace payoff
