// SPDX-License-Identifier: Apache-2.0
#include "profiles/hf_encoder_decoder.hpp"

#include <string>

#include "tests/catch.hpp"
#include "tests/profiles/hf_configs.hpp"

using namespace payoff;
using namespace payoff::test::hf;

// Flan-T5 small and mT5 small: six and eight blocks a stack, heads that are no part of the width,
// a gated feed-forward, tables of their own for the head.
TEST_CASE("T5's heads, feed-forward and stacks have sizes of their own") {
  const Json flan = {{"model_type", "t5"},
                     {"architectures", {"T5ForConditionalGeneration"}},
                     {"is_encoder_decoder", true},
                     {"d_model", 512},
                     {"d_kv", 64},
                     {"d_ff", 1024},
                     {"num_heads", 6},
                     {"num_layers", 8},
                     {"feed_forward_proj", "gated-gelu"},
                     {"tie_word_embeddings", false},
                     {"vocab_size", 32128}};
  const auto outcome = read(flan);
  INFO(outcome.errors);
  REQUIRE(outcome.shape);
  CHECK(outcome.shape->head_size == 64);
  CHECK(outcome.shape->decoder.layers == 8);
  CHECK(outcome.shape->sequence == 512);
  CHECK(outcome.shape->decoder.sequence == 512);
  const auto of = [](std::int64_t encoder, std::int64_t decoder, std::int64_t vocabulary) {
    const std::int64_t attention = 4 * 512 * 6 * 64 + 512;
    const std::int64_t feed_forward = 3 * 512 * 1024 + 512;
    return 2 * vocabulary * 512 + encoder * (attention + feed_forward) +
           decoder * (2 * attention + feed_forward) + 2 * 512 + 2 * 32 * 6;
  };
  CHECK(parameters(flan) == of(8, 8, 32128));
  CHECK(parameters(with(flan, {{"num_decoder_layers", 3}})) == of(8, 3, 32128));
  Json mt5 = with(flan, {{"model_type", "mt5"}, {"vocab_size", 250112}});
  mt5.erase("tie_word_embeddings");
  mt5["architectures"] = {"MT5ForConditionalGeneration"};
  CHECK(parameters(mt5) == of(8, 8, 250112));
  CHECK(parameters(with(flan, {{"tie_word_embeddings", true}})) == of(8, 8, 32128) - 32128 * 512);
}

TEST_CASE("a T5 without a decoder, and other heads and feed-forwards than T5's are refused") {
  const Json t5 = {{"model_type", "t5"}, {"d_model", 512},  {"d_kv", 64},         {"d_ff", 2048},
                   {"num_heads", 8},     {"num_layers", 6}, {"vocab_size", 32128}};
  CHECK(parameters(t5) == 60'506'624);
  const auto refused = [&](const Json& changes) { return read(with(t5, changes)).errors; };
  CHECK_THAT(refused({{"is_encoder_decoder", false}}),
             Catch::Matchers::Contains("T5's encoder without a decoder is not modelled"));
  CHECK_THAT(refused({{"architectures", {"T5EncoderModel"}}}),
             Catch::Matchers::Contains("the head of `T5EncoderModel` is not modelled"));
  CHECK_THAT(refused({{"feed_forward_proj", "gated-tanh"}}),
             Catch::Matchers::Contains("the feed-forward `gated-tanh` is not modelled"));
  CHECK_THAT(refused({{"num_decoder_layers", 0}}),
             Catch::Matchers::Contains("an encoder without a decoder is not modelled"));
  Json headless = t5;
  headless.erase("d_kv");
  CHECK_THAT(read(headless).errors, Catch::Matchers::Contains("missing key `d_kv`"));
}
