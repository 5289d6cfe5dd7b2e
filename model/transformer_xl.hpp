// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/workload.hpp"

// Transformer-XL (Dai et al. 2019, arXiv:1901.02860) as NVIDIA's DeepLearningExamples train it
// (PyTorch/LanguageModeling/Transformer-XL/pytorch/mem_transformer.py): keys and values are
// projected of the segment and of a memory of past ones, scores are the sum of two products (by
// content and by distance), the vocabulary is divided into clusters by frequency (Grave et al.
// 2017, arXiv:1609.04309), whose rare ones have narrower vectors and are computed for the tokens
// that are in them only. Of these there are as many as Zipf's law has. Valid for data parallelism.

namespace payoff {

struct TransformerXlShape {
  std::string name;
  std::int64_t layers{};
  std::int64_t hidden{};
  std::int64_t heads{};
  std::int64_t feed_forward{};
  std::int64_t sequence{};               // tokens that are predicted
  std::int64_t memory{};                 // tokens before them
  std::vector<std::int64_t> clusters{};  // words of each, the most frequent ones first
  std::int64_t narrower{1};              // by how much vectors of each cluster are
};

// WikiText-103 with the cutoffs of that code: 19,997, 39,997 and 199,997 of 267,735 words.
[[nodiscard]] std::vector<std::int64_t> wikitext_clusters();

[[nodiscard]] std::int64_t parameter_count(const TransformerXlShape& shape);

// `activation` is the size of a stored activation.
[[nodiscard]] Workload transformer_xl_workload(const TransformerXlShape& shape, Bytes activation);

}  // namespace payoff
