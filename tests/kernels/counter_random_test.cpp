// SPDX-License-Identifier: Apache-2.0
#include "kernels/codec/counter_random.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/kernels/tensors.hpp"

using namespace payoff::kernels;

namespace {

std::vector<std::uint32_t> words(const RandomWords& words) {
  return {words.word[0], words.word[1], words.word[2], words.word[3]};
}

}  // namespace

TEST_CASE("Philox gives the words that its authors publish") {
  // Random123, examples/kat_vectors: counter and key zero, all ones, and the digits of pi.
  const RandomWords zero{{0, 0, 0, 0}};
  const RandomWords ones{{~0U, ~0U, ~0U, ~0U}};
  const RandomWords pi{{0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U}};
  using Words = std::vector<std::uint32_t>;
  CHECK(words(philox<10>(zero, 0, 0)) == Words{0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U});
  CHECK(words(philox<10>(ones, ~0U, ~0U)) ==
        Words{0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU});
  CHECK(words(philox<10>(pi, 0xa4093822U, 0x299f31d0U)) ==
        Words{0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U});
  CHECK(words(philox<7>(zero, 0, 0)) == Words{0x5f6fb709U, 0x0d893f64U, 0x4f121f81U, 0x4f730a48U});
}

TEST_CASE("random halves are uniform and differ between seeds, streams and places") {
  constexpr std::size_t count = 65536;
  std::vector<int> bins(64, 0);
  double mean = 0.0;
  int equal = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t half = random_half({1, 2}, i);
    ++bins[half / 1024];
    mean += static_cast<double>(unit_interval(half)) / count;
    equal += half == random_half({1, 3}, i) ? 1 : 0;
    equal += half == random_half({2, 2}, i) ? 1 : 0;
  }
  // Chi-squared with 63 degrees of freedom: 63 on average, its standard deviation sqrt(126).
  double chi_squared = 0.0;
  for (const int bin : bins) {
    chi_squared += (bin - 1024.0) * (bin - 1024.0) / 1024.0;
  }
  CHECK(std::abs(chi_squared - 63.0) < 4.0 * std::sqrt(126.0));
  // The mean of n uniform values is 1/2 with standard deviation 1 / sqrt(12 n).
  CHECK(std::abs(mean - 0.5) < 4.0 / std::sqrt(12.0 * count));
  // Two independent halves are equal once in 65,536: two comparisons each, so about two.
  CHECK(equal < 12);
}

TEST_CASE("a unit interval never reaches its ends") {
  CHECK(unit_interval(0) > 0.0F);
  CHECK(unit_interval(0xffff) < 1.0F);
}

TEST_CASE("test data have the spread and the tails of their names") {
  const auto moments = [](InputKind kind) {
    double second = 0.0;
    double largest = 0.0;
    const std::vector<float> values = test::drawn(kind, 20000, 7);
    for (const float value : values) {
      second += static_cast<double>(value) * static_cast<double>(value) / 20000.0;
      largest = std::max(largest, std::abs(static_cast<double>(value)));
    }
    return std::pair{std::sqrt(second), largest};
  };
  const auto [gaussian, gaussian_top] = moments(InputKind::gaussian);
  const auto [laplace, laplace_top] = moments(InputKind::laplace);
  const auto [student, student_top] = moments(InputKind::student_t3);
  // Standard deviations 1, sqrt(2) and sqrt(3) times the typical 1e-3; the last has no fourth
  // moment, so its sample scatters.
  CHECK_THAT(gaussian, Catch::Matchers::WithinRel(1e-3, 0.03));
  CHECK_THAT(laplace, Catch::Matchers::WithinRel(1.4142e-3, 0.05));
  CHECK_THAT(student, Catch::Matchers::WithinRel(1.732e-3, 0.5));
  CHECK(gaussian_top < 4.9e-3);
  CHECK(laplace_top > 8e-3);
  CHECK(student_top > 15e-3);
}
