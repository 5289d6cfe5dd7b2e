// SPDX-License-Identifier: Apache-2.0
#include "profiles/hf_config.hpp"

#include <cstdint>
#include <string>

#include "tests/catch.hpp"
#include "tests/profiles/hf_configs.hpp"

using namespace payoff;
using namespace payoff::test::hf;

// What is read from the configurations of each family.

// The counts are those that the models' cards on Hugging Face or the authors state.
TEST_CASE("configurations have the parameters of the models they describe") {
  CHECK(parameters(gpt2) == 124'439'808);
  CHECK(parameters(llama) == 6'738'415'616);
  CHECK(parameters(bert) == 109'482'240);
  CHECK(parameters(opt_125m) == 125'239'296);
  CHECK(parameters(with(vit, {{"num_labels", 1000}})) == 86'567'656);
}

TEST_CASE("grouped key-value heads and head sizes of their own are understood") {
  const Json mistral = with(
      llama, {{"model_type", "mistral"}, {"num_key_value_heads", 8}, {"intermediate_size", 14336}});
  CHECK(parameters(mistral) == 7'241'732'096);  // Mistral 7B
  // A head of 64 instead of 128 halves the four matrices of attention.
  const std::int64_t attention = 32LL * 4 * 4096 * 4096;
  CHECK(parameters(with(llama, {{"head_dim", 64}})) == parameters(llama) - attention / 2);
}

TEST_CASE("a null is a key that is absent") {
  CHECK(parameters(with(gpt2, {{"n_inner", nullptr}})) == 124'439'808);
  CHECK(parameters(with(llama, {{"num_key_value_heads", nullptr}, {"head_dim", nullptr}})) ==
        6'738'415'616);
}

TEST_CASE("untied embeddings add an output matrix") {
  CHECK(parameters(with(gpt2, {{"tie_word_embeddings", false}})) - parameters(gpt2) == 50257 * 768);
  CHECK(parameters(llama) - parameters(with(llama, {{"tie_word_embeddings", true}})) ==
        32000 * 4096);
}

TEST_CASE("architectures decides BERT's head") {
  const std::int64_t pooler = 768 * 768 + 768;
  const std::int64_t masked = 768 * 768 + 768 + 2 * 768 + 30522;  // transform, norm, decoder's bias
  const std::int64_t plain = parameters(bert) - pooler;
  CHECK(parameters(with(bert, {{"architectures", {"BertForMaskedLM"}}})) == plain + masked);
  CHECK(parameters(with(bert, {{"architectures", {"BertForPreTraining"}}})) ==
        plain + pooler + masked + 2 * 768 + 2);
  CHECK(parameters(with(bert, {{"architectures", {"BertForSequenceClassification"}},
                               {"num_labels", 3}})) == plain + pooler + 3 * (768 + 1));
  CHECK(read(with(bert, {{"architectures", {"BertForQuestionAnswering"}}})).errors ==
        "config.json:2:2 the head of `BertForQuestionAnswering` is not modelled | known: ...Model, "
        "...ForMaskedLM, BertForPreTraining, ...ForSequenceClassification\n");
}

TEST_CASE("the labels of an image classifier are counted or named") {
  const std::int64_t body = parameters(with(vit, {{"num_labels", 0}}));
  CHECK(parameters(with(vit, {{"id2label", {{"0", "cat"}, {"1", "dog"}, {"2", "tree"}}}})) ==
        body + 3 * (768 + 1));
  CHECK(parameters(vit) == body + 2 * (768 + 1));
  CHECK(parameters(with(vit, {{"architectures", {"ViTModel"}}})) == body + 768 * (768 + 1));
}

TEST_CASE("OPT's table of positions has two rows more than positions") {
  const auto outcome = read(opt_125m);
  REQUIRE(outcome.shape);
  CHECK(outcome.shape->positions == 2050);
  CHECK(outcome.shape->sequence == 2048);
  // OPT-350M: embeddings narrower than the blocks, norms behind them.
  const std::string errors =
      read(with(opt_125m, {{"word_embed_proj_dim", 512}, {"do_layer_norm_before", false}})).errors;
  CHECK_THAT(errors, Catch::Matchers::Contains("embeddings of another width") &&
                         Catch::Matchers::Contains("norms behind its blocks"));
}

TEST_CASE("BLOOM has a norm behind its embedding, no table of positions, and two spellings") {
  const Json bloom_560m = {{"model_type", "bloom"},
                           {"hidden_size", 1024},
                           {"n_layer", 24},
                           {"n_head", 16},
                           {"vocab_size", 250880}};
  CHECK(parameters(bloom_560m) == 559'214'592);
  const Json older = {{"model_type", "bloom"},     {"n_embed", 1024},      {"n_layer", 24},
                      {"num_attention_heads", 16}, {"vocab_size", 250880}, {"seq_length", 4096}};
  const auto outcome = read(older);
  REQUIRE(outcome.shape);
  CHECK(parameter_count(*outcome.shape) == 559'214'592);
  CHECK(outcome.shape->positions == 0);
  CHECK(outcome.shape->sequence == 4096);
  CHECK(outcome.shape->heads == 16);
}

TEST_CASE("Nemotron has two matrices in its feed-forward and shifts in its norms") {
  const Json nemotron = with(llama, {{"model_type", "nemotron"}, {"tie_word_embeddings", false}});
  CHECK(parameters(nemotron) == parameters(llama) - 32LL * 4096 * 11008 + (2 * 32 + 1) * 4096);
}

// As its authors count it: 0.49 billion (Qwen2 technical report, table 1).
TEST_CASE("Qwen2 has biases for queries, keys and values alone, and no window unless it says so") {
  const Json qwen2 = {{"model_type", "qwen2"},     {"hidden_size", 896},
                      {"intermediate_size", 4864}, {"max_position_embeddings", 131072},
                      {"num_attention_heads", 14}, {"num_hidden_layers", 24},
                      {"num_key_value_heads", 2},  {"tie_word_embeddings", true},
                      {"vocab_size", 151936},      {"sliding_window", 4096}};
  CHECK(parameters(qwen2) == 494'032'768);
  const Json without = with(qwen2, {{"model_type", "mistral"}, {"sliding_window", nullptr}});
  CHECK(parameters(qwen2) - parameters(without) == 24 * (896 + 2 * 128));
  CHECK(read(qwen2).errors.empty());
  CHECK_THAT(read(with(qwen2, {{"use_sliding_window", true}})).errors,
             Catch::Matchers::Contains("not over the window"));
}

// Gemma 2B and Gemma 2 2B, as their checkpoints hold them.
TEST_CASE("Gemma has heads of 256, and Gemma 2 norms on both sides of attention and feed-forward") {
  const Json gemma = {{"model_type", "gemma"},      {"hidden_size", 2048},
                      {"intermediate_size", 16384}, {"max_position_embeddings", 8192},
                      {"num_attention_heads", 8},   {"num_hidden_layers", 18},
                      {"num_key_value_heads", 1},   {"vocab_size", 256000}};
  CHECK(parameters(gemma) == 2'506'172'416);
  const Json gemma2 = {
      {"model_type", "gemma2"},          {"hidden_size", 2304},      {"intermediate_size", 9216},
      {"max_position_embeddings", 8192}, {"num_attention_heads", 8}, {"num_hidden_layers", 26},
      {"num_key_value_heads", 4},        {"vocab_size", 256000},     {"sliding_window", 4096}};
  CHECK(parameters(gemma2) == 2'614'341'888);
  CHECK(parameters(gemma2) - parameters(with(gemma2, {{"model_type", "gemma"}})) == 26 * 2 * 2304);
}

// As their checkpoints hold them: Qwen3 8B and 30B-A3B, Gemma 3 1B, Phi-3 mini.
TEST_CASE("families that norm each head's query and key have a vector for either in every block") {
  const Json qwen3 = {{"model_type", "qwen3"},      {"hidden_size", 4096},
                      {"intermediate_size", 12288}, {"max_position_embeddings", 40960},
                      {"num_attention_heads", 32},  {"num_hidden_layers", 36},
                      {"num_key_value_heads", 8},   {"head_dim", 128},
                      {"vocab_size", 151936}};
  CHECK(parameters(qwen3) == 8'190'735'360);
  CHECK(parameters(qwen3) - parameters(with(qwen3, {{"model_type", "llama"}})) == 36 * 2 * 128);
  const Json mixture = with(qwen3, {{"model_type", "qwen3_moe"},
                                    {"hidden_size", 2048},
                                    {"intermediate_size", 6144},
                                    {"num_hidden_layers", 48},
                                    {"num_key_value_heads", 4},
                                    {"moe_intermediate_size", 768},
                                    {"num_experts", 128},
                                    {"num_experts_per_tok", 8}});
  CHECK(parameters(mixture) == 30'532'122'624);
  CHECK_THAT(read(with(mixture, {{"decoder_sparse_step", 2}})).errors,
             Catch::Matchers::Contains("experts in some blocks between others is not modelled"));
  CHECK_THAT(read(with(mixture, {{"mlp_only_layers", {0, 1}}})).errors,
             Catch::Matchers::Contains("experts in some blocks between others is not modelled"));
  const Json gemma3 = {{"model_type", "gemma3_text"}, {"hidden_size", 1152},
                       {"intermediate_size", 6912},   {"max_position_embeddings", 32768},
                       {"num_attention_heads", 4},    {"num_hidden_layers", 26},
                       {"num_key_value_heads", 1},    {"vocab_size", 262144}};
  CHECK(parameters(gemma3) == 999'885'952);
  const Json phi3 = {{"model_type", "phi3"},      {"hidden_size", 3072},
                     {"intermediate_size", 8192}, {"max_position_embeddings", 4096},
                     {"num_attention_heads", 32}, {"num_hidden_layers", 32},
                     {"num_key_value_heads", 32}, {"vocab_size", 32064}};
  CHECK(parameters(phi3) == 3'821'079'552);
}

// Qwen1.5-MoE-A2.7B: 60 experts, and one that all tokens pass behind a gate.
TEST_CASE("the shared expert of Qwen2-MoE has a width and a gate of its own") {
  const Json mixture = {{"model_type", "qwen2_moe"},
                        {"hidden_size", 2048},
                        {"intermediate_size", 5632},
                        {"max_position_embeddings", 8192},
                        {"moe_intermediate_size", 1408},
                        {"num_attention_heads", 16},
                        {"num_experts", 60},
                        {"num_experts_per_tok", 4},
                        {"num_hidden_layers", 24},
                        {"num_key_value_heads", 16},
                        {"shared_expert_intermediate_size", 5632},
                        {"vocab_size", 151936}};
  constexpr std::int64_t h = 2048;
  const std::int64_t attention = 4 * h * h + 3 * h;
  const std::int64_t experts = 60 * 3 * h * 1408 + 60 * h;
  const std::int64_t shared = 3 * h * 5632 + h;
  CHECK(parameters(mixture) == 2 * 151936 * h + 24 * (attention + experts + shared + 2 * h) + h);
  CHECK(parameters(mixture) - parameters(with(mixture, {{"qkv_bias", false}})) == 24 * 3 * h);
  CHECK_THAT(read(with(mixture, {{"decoder_sparse_step", 2}})).errors,
             Catch::Matchers::Contains("experts in some blocks between others is not modelled"));
}

// GLM-4-9B of 2024 and of April 2025.
TEST_CASE("GLM has biases for queries, keys and values where it says so, and GLM-4 four norms") {
  const Json glm = {{"model_type", "glm"},        {"hidden_size", 4096},
                    {"intermediate_size", 13696}, {"max_position_embeddings", 131072},
                    {"num_attention_heads", 32},  {"num_hidden_layers", 40},
                    {"num_key_value_heads", 2},   {"vocab_size", 151552},
                    {"attention_bias", true}};
  constexpr std::int64_t h = 4096;
  const std::int64_t attention = 2 * h * h + 2 * h * 256 + h + 2 * 256;
  const std::int64_t block = attention + 3 * h * 13696 + 2 * h;
  CHECK(parameters(glm) == 2 * 151552 * h + 40 * block + h);
  CHECK(parameters(with(glm, {{"model_type", "glm4"}})) == parameters(glm) + 40 * 2 * h);
  CHECK(parameters(glm) - parameters(with(glm, {{"attention_bias", false}})) == 40 * (h + 2 * 256));
}

// roberta-base, as its checkpoint holds it.
TEST_CASE("RoBERTa counts the padding of its table of positions, and has BERT's heads") {
  const Json roberta = {{"model_type", "roberta"},
                        {"hidden_size", 768},
                        {"intermediate_size", 3072},
                        {"max_position_embeddings", 514},
                        {"num_attention_heads", 12},
                        {"num_hidden_layers", 12},
                        {"vocab_size", 50265},
                        {"type_vocab_size", 1},
                        {"architectures", {"RobertaModel"}}};
  CHECK(parameters(roberta) == 124'645'632);
  CHECK(read(roberta).shape->sequence == 512);
  CHECK(parameters(with(roberta, {{"architectures", {"RobertaForMaskedLM"}}})) == 124'697'433);
  CHECK_FALSE(read(with(roberta, {{"architectures", {"RobertaForTokenClassification"}}})).shape);
}

TEST_CASE("a Mixtral names its experts, and the width of a feed-forward is that of one") {
  const Json mixtral = with(llama, {{"model_type", "mixtral"},
                                    {"intermediate_size", 14336},
                                    {"num_key_value_heads", 8},
                                    {"num_local_experts", 8},
                                    {"num_experts_per_tok", 2}});
  CHECK(parameters(mixtral) == 46'702'792'704);
  const TransformerShape shape = *read(mixtral).shape;
  CHECK(shape.experts.count == 8);
  CHECK(shape.experts.per_token == 2);
  CHECK(shape.experts.width == 14336);
  CHECK(shape.experts.shared_width == 0);
  CHECK(shape.experts.dense_blocks == 0);
  CHECK_THAT(read(with(mixtral, {{"num_experts_per_tok", 9}})).errors,
             Catch::Matchers::Contains("a token is sent to 9 of 8 experts"));
}

// config.json of DeepSeek-V2-Lite: queries directly, no narrow vector for them. The paper's table
// (arXiv:2405.04434, appendix B.1): 15.7B parameters, 2.4B of them activated.
TEST_CASE("a DeepSeek names its experts and the ranks of its attention") {
  const Json lite = {{"model_type", "deepseek_v2"},
                     {"hidden_size", 2048},
                     {"intermediate_size", 10944},
                     {"moe_intermediate_size", 1408},
                     {"num_hidden_layers", 27},
                     {"num_attention_heads", 16},
                     {"num_key_value_heads", 16},
                     {"n_routed_experts", 64},
                     {"n_shared_experts", 2},
                     {"num_experts_per_tok", 6},
                     {"kv_lora_rank", 512},
                     {"q_lora_rank", nullptr},
                     {"qk_nope_head_dim", 128},
                     {"qk_rope_head_dim", 64},
                     {"v_head_dim", 128},
                     {"vocab_size", 102400},
                     {"max_position_embeddings", 4096},
                     {"first_k_dense_replace", 1},
                     {"moe_layer_freq", 1}};
  const auto count = static_cast<double>(parameters(lite));
  CHECK_THAT(count, Catch::Matchers::WithinRel(15.7e9, 0.002));
  const TransformerShape shape = *read(lite).shape;
  CHECK(shape.latent.query_rank == 0);
  CHECK(shape.head_size == 192);
  CHECK(shape.experts.shared_width == 2 * 1408);
  // The table of tokens only looks up.
  CHECK_THAT(static_cast<double>(active_parameter_count(shape) - 102400 * 2048),
             Catch::Matchers::WithinRel(2.4e9, 0.025));
  CHECK_THAT(read(with(lite, {{"moe_layer_freq", 2}})).errors,
             Catch::Matchers::Contains("experts in some blocks between others is not modelled"));
  CHECK_THAT(read(with(lite, {{"first_k_dense_replace", 28}})).errors,
             Catch::Matchers::Contains("more blocks than the model has"));
}

TEST_CASE("attention over a window is priced in full, and said to be") {
  const auto outcome = read(with(
      llama, {{"model_type", "mistral"}, {"sliding_window", 1024}, {"num_key_value_heads", 8}}));
  CHECK(outcome.shape);
  CHECK_THAT(outcome.errors, Catch::Matchers::Contains("not over the window of 1024 tokens"));
}

TEST_CASE("the largest shape that is read has a count of parameters") {
  const Json largest = {{"model_type", "llama"},        {"hidden_size", 1 << 20},
                        {"intermediate_size", 1 << 22}, {"max_position_embeddings", 1 << 28},
                        {"num_attention_heads", 1},     {"head_dim", 1 << 20},
                        {"num_hidden_layers", 4},       {"vocab_size", 1 << 24}};
  // 4 blocks of (4 + 3 * 4) matrices of 2^40, two norms each; two tables of 2^44, one norm.
  const std::int64_t width = 1 << 20;
  CHECK(parameters(largest) == 4 * 16 * width * width + (2 * 4 + 1) * width + 32 * width * width);
  CHECK_FALSE(read(with(largest, {{"num_attention_heads", 3}})).shape);
}
