// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/transformer.hpp"
#include "profiles/hf_dialects.hpp"
#include "profiles/json_object.hpp"

// What goes into the blocks of a Hugging Face model and what stands on top of them: a vocabulary
// and a length, or patches of an image; a head for language, for masked words, for classes.

namespace payoff {

// What is wrong is reported.
void add_head(const JsonObject& config, const Dialect& dialect, TransformerShape& shape);

}  // namespace payoff
