// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference/sparse.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "kernels/codec/count_sketch.hpp"
#include "kernels/codec/selection.hpp"

namespace payoff::kernels {
namespace {

void append(SparseMessage& message, std::span<const float> values, std::size_t index) {
  message.indices.push_back(static_cast<std::uint32_t>(index));
  message.values.push_back(values[index]);
}

}  // namespace

std::uint32_t select_key(std::span<const float> values, std::uint32_t k) {
  Selection selection{0, k};
  for (int pass = 0; pass < select_passes; ++pass) {
    std::array<std::uint32_t, select_bins> counts{};
    for (const float value : values) {
      const std::uint32_t key = magnitude_key(value);
      if (compare_with_prefix(key, selection, pass) == 0) {
        ++counts[digit_of(key, pass)];
      }
    }
    selection = narrowed(selection, counts.data(), pass);
  }
  return selection.prefix;
}

SparseMessage top_k(std::span<const float> values, std::uint32_t k) {
  const std::uint32_t threshold = select_key(values, k);
  const auto larger_ones = static_cast<std::uint32_t>(
      std::count_if(values.begin(), values.end(),
                    [threshold](float value) { return magnitude_key(value) > threshold; }));
  std::uint32_t equals = k - larger_ones;
  SparseMessage message;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t key = magnitude_key(values[i]);
    if (key > threshold || (key == threshold && equals > 0)) {
      equals -= key == threshold ? 1U : 0U;
      append(message, values, i);
    }
  }
  return message;
}

SparseMessage above(std::span<const float> values, float threshold) {
  SparseMessage message;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (magnitude_key(values[i]) >= magnitude_key(threshold)) {
      append(message, values, i);
    }
  }
  return message;
}

float sampled_threshold(std::span<const float> values, std::uint32_t k, std::uint32_t stride) {
  std::vector<float> sample;
  for (std::size_t i = 0; i < values.size(); i += stride) {
    sample.push_back(values[i]);
  }
  const auto rank =
      std::clamp<std::uint32_t>(k / stride, 1, static_cast<std::uint32_t>(sample.size()));
  return float_of(select_key(sample, rank));
}

SparseMessage top_of_chunks(std::span<const float> values, std::size_t chunk, std::size_t kept) {
  SparseMessage message;
  for (std::size_t begin = 0; begin < values.size(); begin += chunk) {
    std::vector<std::uint64_t> ranks;
    for (std::size_t i = begin; i < std::min(values.size(), begin + chunk); ++i) {
      ranks.push_back(ranked(values[i], static_cast<std::uint32_t>(i)));
    }
    std::sort(ranks.begin(), ranks.end(), std::greater<>{});
    for (std::size_t j = 0; j < std::min(kept, ranks.size()); ++j) {
      append(message, values, index_of(ranks[j]));
    }
  }
  return message;
}

SparseMessage random_k(std::span<const float> values, std::uint32_t k, std::uint32_t seed) {
  const SharedPermutation permutation(static_cast<std::uint32_t>(values.size()), seed);
  SparseMessage message;
  for (std::uint32_t position = 0; position < k; ++position) {
    append(message, values, permutation(position));
  }
  return message;
}

std::vector<float> scattered(std::span<const SparseMessage> messages, std::size_t count) {
  std::vector<float> dense(count, 0.0F);
  for (const SparseMessage& message : messages) {
    for (std::size_t i = 0; i < message.indices.size(); ++i) {
      dense[message.indices[i]] += message.values[i];
    }
  }
  return dense;
}

std::vector<float> count_sketch(std::span<const float> values, SketchShape shape) {
  std::vector<float> sketch(static_cast<std::size_t>(shape.rows) * shape.columns, 0.0F);
  for (std::uint32_t row = 0; row < shape.rows; ++row) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const SketchPlace place =
          sketch_place(static_cast<std::uint32_t>(i), row, shape.columns, shape.seed);
      sketch[static_cast<std::size_t>(row) * shape.columns + place.column] +=
          place.negated ? -values[i] : values[i];
    }
  }
  return sketch;
}

std::vector<float> sketch_estimates(std::span<const float> sketch, SketchShape shape,
                                    std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = sketch_estimate(sketch.data(), static_cast<std::uint32_t>(i), shape.rows,
                                shape.columns, shape.seed);
  }
  return values;
}

}  // namespace payoff::kernels
