// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "tests/catch.hpp"
#include "tests/profiles/hf_configs.hpp"

using namespace payoff;
using namespace payoff::test::hf;

// Configurations that are not read: what is said of them, and where.

TEST_CASE("families of other blocks are refused with what they have") {
  for (const char* family : {"gpt_neox", "falcon", "phi"}) {
    CHECK_THAT(read(with(llama, {{"model_type", family}})).errors,
               Catch::Matchers::Contains("attention and the feed-forward beside each other is not "
                                         "modelled"));
  }
  CHECK_THAT(read(with(llama, {{"model_type", "bart"}})).errors,
             Catch::Matchers::Contains("an encoder with a decoder other than T5's is not "
                                       "modelled"));
}

TEST_CASE("a missing key is named") {
  Json config = llama;
  config.erase("hidden_size");
  config.erase("vocab_size");
  CHECK(read(config).errors ==
        "config.json:1:1 missing key `hidden_size` | it decides the shape of the model\n"
        "config.json:1:1 missing key `vocab_size` | it decides the shape of the model\n");
}

TEST_CASE("a value of the wrong kind is refused at its key") {
  const std::string text =
      "{\"model_type\": \"gpt2\",\n \"n_embd\": \"768\",\n \"n_head\": 12.5,\n"
      " \"n_layer\": -12,\n \"n_positions\": true, \"vocab_size\": 1e30}";
  const std::string range = " is not a whole number from 0 to ";
  CHECK(read(text).errors ==
        "config.json:2:2 `n_embd`" + range + "1048576 | this is a string\n" +
            "config.json:3:2 `n_head`" + range + "1048576 | this is 12.5\n" +
            "config.json:4:2 `n_layer`" + range + "1024 | this is -12\n" +
            "config.json:5:2 `n_positions`" + range + "268435456 | this is a boolean\n" +
            "config.json:5:23 `vocab_size`" + range + "16777216 | this is 1e+30\n");
}

TEST_CASE("an unknown family is answered with the known ones") {
  CHECK(read(with(llama, {{"model_type", "lama"}})).errors ==
        "config.json:5:2 the model_type `lama` is not known | did you mean `llama`? | known: gpt2, "
        "llama, mistral, mixtral, deepseek_v2, deepseek_v3, kimi_k2, qwen2, qwen2_moe, qwen3, "
        "qwen3_moe, glm, glm4, gemma, gemma2, gemma3_text, phi3, nemotron, opt, bloom, bert, "
        "roberta, t5, mt5, vit\n");
  CHECK_THAT(read(std::string("{}")).errors,
             Catch::Matchers::StartsWith("config.json:1:1 missing key `model_type`"));
}

TEST_CASE("a mixture of an unknown family is refused with the reason") {
  for (const char* key : {"num_local_experts", "n_routed_experts", "num_experts"}) {
    CHECK_THAT(read(with(llama, {{"model_type", "other"}, {key, 8}})).errors,
               Catch::Matchers::Contains("a mixture of experts is not modelled | `other` sends "
                                         "tokens to experts by routing"));
  }
}

TEST_CASE("layers that the model has no words for are refused, not dropped") {
  CHECK_THAT(read(with(gpt2, {{"add_cross_attention", true}})).errors,
             Catch::Matchers::Contains("cross-attention is not modelled"));
  CHECK_THAT(read(with(llama, {{"attention_bias", true}})).errors,
             Catch::Matchers::Contains("a bias in attention alone is not modelled"));
  CHECK_THAT(read(with(llama, {{"architectures", {"LlamaForSequenceClassification"}}})).errors,
             Catch::Matchers::Contains("the head of `LlamaForSequenceClassification`"));
  CHECK_THAT(read(with(bert, {{"position_embedding_type", "relative_key"}})).errors,
             Catch::Matchers::Contains("relative position embeddings are not modelled"));
}

TEST_CASE("sizes that do not fit each other are refused") {
  CHECK_THAT(read(with(gpt2, {{"n_head", 7}})).errors,
             Catch::Matchers::Contains("7 heads do not divide a width of 768"));
  CHECK_THAT(read(with(llama, {{"num_key_value_heads", 5}})).errors,
             Catch::Matchers::Contains("5 key-value heads do not divide 32 heads"));
  CHECK_THAT(read(with(vit, {{"patch_size", 17}})).errors,
             Catch::Matchers::Contains("patches of 17 do not divide an image of 224"));
  for (const char* key : {"n_embd", "n_head", "n_layer", "n_positions", "n_inner"}) {
    INFO(key);
    CHECK_THAT(read(with(gpt2, {{key, 0}})).errors,
               Catch::Matchers::Contains("a transformer needs layers, heads, widths and a length"));
  }
}

TEST_CASE("a transformer of a thousand layers is read, and one of ten thousand refused") {
  CHECK(read(with(gpt2, {{"n_layer", 1024}})).errors.empty());
  CHECK_THAT(read(with(gpt2, {{"n_layer", 1025}})).errors, Catch::Matchers::Contains("n_layer"));
  CHECK_THAT(read(with(gpt2, {{"n_layer", 10000}})).errors, Catch::Matchers::Contains("1024"));
}

TEST_CASE("what is no JSON is refused where it stops being some") {
  CHECK(read(std::string("{\"model_type\": \"gpt2\",\n \"n_embd\" 768}")).errors ==
        "config.json:2:13 this is not valid JSON | it cannot go on like this here\n");
  CHECK_THAT(read(std::string("{\"a\": 1")).errors, Catch::Matchers::Contains("not valid JSON"));
  CHECK_THAT(read(std::string()).errors, Catch::Matchers::Contains("not valid JSON"));
  CHECK(read(std::string("[1]")).errors ==
        "config.json:1:1 a model configuration is a JSON object | this is array\n");
  CHECK(read(std::string("{\"n_embd\": 1e999}")).errors ==
        "config.json:1:1 this JSON holds a number out of range\n");
}
