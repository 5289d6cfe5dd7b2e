// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/hardware.hpp"
#include "model/transformer.hpp"

// Shapes from the papers' tables and an imaginary GPU of round numbers, for tests that derive their
// expectations by hand.

namespace payoff::test {

inline TransformerShape gpt(std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                            std::int64_t sequence, std::int64_t vocabulary) {
  return {.name = "gpt",
          .family = TransformerFamily::gpt,
          .layers = layers,
          .hidden = hidden,
          .heads = heads,
          .kv_heads = heads,
          .head_size = hidden / heads,
          .feed_forward = 4 * hidden,
          .vocabulary = vocabulary,
          .positions = sequence,
          .sequence = sequence,
          .tied_embeddings = true};
}

inline TransformerShape llama(std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                              std::int64_t kv_heads, std::int64_t feed_forward,
                              std::int64_t vocabulary) {
  return {.name = "llama",
          .family = TransformerFamily::llama,
          .layers = layers,
          .hidden = hidden,
          .heads = heads,
          .kv_heads = kv_heads,
          .head_size = hidden / heads,
          .feed_forward = feed_forward,
          .vocabulary = vocabulary,
          .sequence = 4096,
          .gated = true,
          .biases = false};
}

inline TransformerShape mixtral_8x7b() {
  TransformerShape shape = llama(32, 4096, 32, 8, 14336, 32000);
  shape.experts = {.count = 8, .per_token = 2, .width = 14336};
  return shape;
}

inline TransformerShape deepseek_v2() {
  TransformerShape shape = llama(60, 5120, 128, 128, 12288, 102400);
  shape.head_size = 128 + 64;
  shape.experts = {
      .count = 160, .per_token = 6, .width = 1536, .shared_width = 2 * 1536, .dense_blocks = 1};
  shape.latent = {.query_rank = 1536, .key_rank = 512, .rotated = 64, .value_size = 128};
  return shape;
}

inline TransformerShape deepseek_v3() {
  TransformerShape shape = llama(61, 7168, 128, 128, 18432, 129280);
  shape.head_size = 128 + 64;
  shape.experts = {
      .count = 256, .per_token = 8, .width = 2048, .shared_width = 2048, .dense_blocks = 3};
  shape.latent = {.query_rank = 1536, .key_rank = 512, .rotated = 64, .value_size = 128};
  return shape;
}

inline TransformerShape bert_base() {
  return {.name = "bert-base",
          .family = TransformerFamily::bert,
          .layers = 12,
          .hidden = 768,
          .heads = 12,
          .kv_heads = 12,
          .head_size = 64,
          .feed_forward = 3072,
          .vocabulary = 30522,
          .positions = 512,
          .token_types = 2,
          .sequence = 512,
          .tied_embeddings = true,
          .causal = false,
          .pooler = true};
}

inline TransformerShape vit_b_16() {
  return {.name = "vit-b-16",
          .family = TransformerFamily::vit,
          .layers = 12,
          .hidden = 768,
          .heads = 12,
          .kv_heads = 12,
          .head_size = 64,
          .feed_forward = 3072,
          .positions = 197,
          .sequence = 197,
          .causal = false,
          .image_patch = 16,
          .image_channels = 3,
          .classes = 1000};
}

// T5 1.0: an encoder and a decoder of as many blocks, relu, one table of tokens.
inline TransformerShape t5(std::int64_t layers, std::int64_t hidden, std::int64_t feed_forward,
                           std::int64_t heads, std::int64_t head_size) {
  return {.name = "t5",
          .family = TransformerFamily::t5,
          .layers = layers,
          .hidden = hidden,
          .heads = heads,
          .kv_heads = heads,
          .head_size = head_size,
          .feed_forward = feed_forward,
          .vocabulary = 32128,
          .sequence = 512,
          .biases = false,
          .tied_embeddings = true,
          .causal = false,
          .relative_buckets = 32,
          .decoder = {.layers = layers, .sequence = 114}};
}

// 100 compute units of 1 TFLOP/s each in 16 bits, 1 TB/s of memory, nothing lost.
inline Gpu ideal_gpu() {
  Gpu gpu{.name = "ideal", .architecture = Architecture::ampere, .compute_units = 100};
  gpu.memory = 80_GB;
  gpu.memory_bandwidth = 1_TBps;
  gpu.peak[Precision::fp32] = 10_TFLOPps;
  gpu.peak[Precision::fp16] = 100_TFLOPps;
  gpu.peak[Precision::bf16] = 100_TFLOPps;
  gpu.law.gemm_efficiency.values = {1, 1, 1, 1, 1};
  gpu.law.convolution_efficiency = 1;
  gpu.law.attention_efficiency = 1;
  gpu.law.memory_efficiency = 1;
  return gpu;
}

}  // namespace payoff::test
