// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference/sparse.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/codec/count_sketch.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/tensors.hpp"

using namespace payoff::kernels;

namespace {

double wide(float value) { return static_cast<double>(value); }

// By sorting: larger magnitudes first, among equals the earlier.
std::vector<std::uint32_t> largest_by_sorting(const std::vector<float>& values, std::size_t k) {
  std::vector<std::uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&values](std::uint32_t a, std::uint32_t b) {
    return std::abs(values[a]) > std::abs(values[b]);
  });
  order.resize(k);
  return order;
}

}  // namespace

TEST_CASE("radix select keeps what sorting by magnitude keeps") {
  for (const auto& tensor : test::tensors()) {
    const std::size_t count = tensor.values.size();
    for (const std::size_t k : {std::size_t{1}, count / 100, count / 4, count - 1, count}) {
      if (k == 0 || k > count) {
        continue;
      }
      INFO(tensor.name << ", k = " << k);
      const SparseMessage message = top_k(tensor.values, static_cast<std::uint32_t>(k));
      auto expected = largest_by_sorting(tensor.values, k);
      CHECK(float_of(select_key(tensor.values, static_cast<std::uint32_t>(k))) ==
            std::abs(tensor.values[expected.back()]));
      std::sort(expected.begin(), expected.end());
      CHECK(message.indices == expected);
    }
  }
}

TEST_CASE("Top-K leaves at most (1 - k/n) of the squares") {
  // Stich et al., arXiv 1809.07599, definition 2.1.
  for (const auto& tensor : test::tensors()) {
    const std::size_t count = tensor.values.size();
    const std::size_t k = std::max<std::size_t>(count / 10, 1);
    const SparseMessage message = top_k(tensor.values, static_cast<std::uint32_t>(k));
    double all = 0.0;
    for (const float value : tensor.values) {
      all += wide(value) * wide(value);
    }
    double kept = 0.0;
    for (const float value : message.values) {
      kept += wide(value) * wide(value);
    }
    const double share = static_cast<double>(k) / static_cast<double>(count);
    INFO(tensor.name);
    CHECK(all - kept <= (1.0 - share) * all * (1.0 + 1e-9));
  }
}

TEST_CASE("a threshold from a sample keeps about k values of a random tensor") {
  // The sample holds n/s values, of which k/s lie above: the count above the threshold has a
  // relative standard deviation of about sqrt(s/k).
  constexpr std::size_t count = 200000;
  constexpr std::uint32_t k = 20000;
  constexpr std::uint32_t stride = 20;
  const auto values = test::drawn(InputKind::laplace, count);
  const float threshold = sampled_threshold(values, k, stride);
  const auto kept = static_cast<double>(above(values, threshold).indices.size());
  CHECK(std::abs(kept / k - 1.0) < 4.5 * std::sqrt(static_cast<double>(stride) / k));
}

TEST_CASE("every value at or above a threshold is kept, in order") {
  const std::vector<float> values{0.5F, -2.0F, 0.0F, 1.0F, -0.99F, 3.0F};
  const SparseMessage message = above(values, 1.0F);
  CHECK(message.indices == std::vector<std::uint32_t>{1, 3, 5});
  CHECK(message.values == std::vector<float>{-2.0F, 1.0F, 3.0F});
}

TEST_CASE("chunked Top-K keeps the largest of each chunk") {
  for (const auto& tensor : test::tensors()) {
    for (const std::size_t chunk : {32UL, 64UL, 256UL}) {
      for (const std::size_t kept : {1UL, 4UL}) {
        const SparseMessage message = top_of_chunks(tensor.values, chunk, kept);
        std::size_t place = 0;
        for (std::size_t begin = 0; begin < tensor.values.size(); begin += chunk) {
          const std::vector<float> part(
              tensor.values.begin() + static_cast<std::ptrdiff_t>(begin),
              tensor.values.begin() +
                  static_cast<std::ptrdiff_t>(std::min(tensor.values.size(), begin + chunk)));
          for (const std::uint32_t index : largest_by_sorting(part, std::min(kept, part.size()))) {
            REQUIRE(message.indices.at(place) == begin + index);
            ++place;
          }
        }
        CHECK(message.indices.size() == place);
      }
    }
  }
}

TEST_CASE("Random-K visits every place once, and another order for another seed") {
  for (const std::uint32_t count : {1U, 2U, 3U, 1000U, 4096U, 65537U}) {
    const SharedPermutation permutation(count, 17);
    std::vector<bool> seen(count, false);
    for (std::uint32_t i = 0; i < count; ++i) {
      REQUIRE(permutation(i) < count);
      REQUIRE(!seen[permutation(i)]);
      seen[permutation(i)] = true;
    }
  }
  const auto values = test::drawn(InputKind::gaussian, 10000);
  CHECK(random_k(values, 100, 1).indices == random_k(values, 100, 1).indices);
  CHECK(random_k(values, 100, 1).indices != random_k(values, 100, 2).indices);
}

TEST_CASE("Random-K takes each place equally often") {
  // Over 400 seeds, one place of 100 is taken 400 k/n times with standard deviation below that of
  // independent draws, sqrt(400 k/n (1 - k/n)).
  const std::vector<float> values(100, 1.0F);
  std::vector<double> times(100, 0.0);
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    for (const std::uint32_t index : random_k(values, 25, seed).indices) {
      times[index] += 1.0;
    }
  }
  for (const double count : times) {
    CHECK(std::abs(count - 100.0) < 5.0 * std::sqrt(400.0 * 0.25 * 0.75));
  }
}

TEST_CASE("scattered messages add up, and overlap is counted twice") {
  const std::vector<SparseMessage> messages{{{1, 4}, {2.0F, 1.0F}}, {{4, 0}, {0.5F, -3.0F}}};
  CHECK(scattered(messages, 6) == std::vector<float>{-3.0F, 2.0F, 0.0F, 0.0F, 1.5F, 0.0F});
}

TEST_CASE("a sketch is linear, and each of its rows holds every value once") {
  constexpr SketchShape shape{3, 101, 5};
  const auto a = test::drawn(InputKind::gaussian, 2000, 1);
  std::vector<float> ones(2000, 1.0F);
  const auto sketch = count_sketch(ones, shape);
  for (std::uint32_t row = 0; row < shape.rows; ++row) {
    int magnitude_sum = 0;
    for (std::uint32_t i = 0; i < 2000; ++i) {
      const SketchPlace place = sketch_place(i, row, shape.columns, shape.seed);
      REQUIRE(place.column < shape.columns);
      magnitude_sum += place.negated ? -1 : 1;
    }
    float row_sum = 0.0F;
    for (std::uint32_t column = 0; column < shape.columns; ++column) {
      row_sum += sketch[row * shape.columns + column];
    }
    CHECK(row_sum == static_cast<float>(magnitude_sum));  // sums of ones are exact
    CHECK(std::abs(magnitude_sum) < 4.5 * std::sqrt(2000.0));
  }
  std::vector<float> twice = a;
  for (float& value : twice) {
    value *= 2.0F;
  }
  const auto once = count_sketch(a, shape);
  const auto doubled = count_sketch(twice, shape);
  for (std::size_t i = 0; i < once.size(); ++i) {
    REQUIRE(doubled[i] == 2.0F * once[i]);
  }
}

TEST_CASE("a row of a sketch errs by sqrt(3 / columns) ||x|| at most one time in three") {
  constexpr std::size_t count = 5000;
  constexpr SketchShape row{1, 256, 11};
  const auto values = test::drawn(InputKind::laplace, count);
  double norm = 0.0;
  for (const float value : values) {
    norm += wide(value) * wide(value);
  }
  const auto error_share = [&](SketchShape shape) {
    const auto back = sketch_estimates(count_sketch(values, shape), shape, count);
    double far = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      far += std::abs(wide(back[i]) - wide(values[i])) > std::sqrt(3.0 * norm / 256.0) ? 1.0 : 0.0;
    }
    return far / count;
  };
  const double one = error_share(row);
  CHECK(one < 1.0 / 3.0);
  // The median of three is far only where two are: 3 p^2 - 2 p^3; of five where three are.
  CHECK(error_share({3, 256, 11}) <= 3.0 * one * one + 0.02);
  CHECK(error_share({5, 256, 11}) <= 10.0 * one * one * one + 0.02);
}

TEST_CASE("medians of three and five are the middle ones") {
  std::vector<float> five{1.0F, 2.0F, 3.0F, 4.0F, 5.0F};
  do {
    REQUIRE(median5(five[0], five[1], five[2], five[3], five[4]) == 3.0F);
  } while (std::next_permutation(five.begin(), five.end()));
  std::vector<float> three{1.0F, 1.0F, 2.0F};
  do {
    REQUIRE(median3(three[0], three[1], three[2]) == 1.0F);
  } while (std::next_permutation(three.begin(), three.end()));
}
