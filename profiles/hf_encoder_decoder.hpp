// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/transformer.hpp"
#include "profiles/json_object.hpp"

// What a Hugging Face configuration of T5 or mT5 says beyond the sizes of an ordinary block: the
// width of heads (d_kv), the blocks of the decoder (num_decoder_layers), a gated feed-forward
// (feed_forward_proj: T5 1.1, Flan-T5, mT5), positions by distance, and lengths. n_positions sets
// no limit, for positions are relative: both lengths unless an experiment gives others.

namespace payoff {

// `architecture` names the head; what is wrong is reported.
void add_encoder_decoder(const JsonObject& config, const std::string& architecture,
                         TransformerShape& shape);

}  // namespace payoff
