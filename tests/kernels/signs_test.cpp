// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/reference/signs_and_sums.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/tensors.hpp"

using namespace payoff::kernels;

namespace {

double wide(float value) { return static_cast<double>(value); }

bool bit(const std::vector<std::uint32_t>& words, std::size_t index) {
  return ((words[index / 32] >> (index % 32)) & 1U) != 0U;
}

}  // namespace

TEST_CASE("a packed sign is one bit a value, set for negative values only, zero past the end") {
  for (const auto& tensor : test::tensors()) {
    INFO(tensor.name);
    const auto words = pack_signs(tensor.values);
    REQUIRE(words.size() == (tensor.values.size() + 31) / 32);
    for (std::size_t i = 0; i < words.size() * 32; ++i) {
      REQUIRE(bit(words, i) == (i < tensor.values.size() && tensor.values[i] < 0.0F));
    }
  }
  CHECK(pack_signs(std::vector<float>{-0.0F, 0.0F}).front() == 0U);
}

TEST_CASE("the majority of words is the sign that most workers sent, positive on a tie") {
  constexpr std::size_t words_each = 5;
  const auto workers = GENERATE(1U, 2U, 3U, 8U, 64U, 127U, 255U);
  std::vector<std::uint32_t> words;
  for (std::uint32_t i = 0; i < workers * words_each; ++i) {
    words.push_back(random_words({workers, 1}, i).word[0]);
  }
  const auto result = majority_of(words, workers);
  for (std::size_t i = 0; i < words_each * 32; ++i) {
    std::uint32_t negative = 0;
    for (std::uint32_t worker = 0; worker < workers; ++worker) {
      negative += (words[worker * words_each + i / 32] >> (i % 32)) & 1U;
    }
    REQUIRE(bit(result, i) == (2 * negative > workers));
  }
}

TEST_CASE("a sum in fixed order is within its tree's error of the exact sum") {
  // Levels of tiles of 2,048: at most 8 + 8 + 1 additions on a path for each of the 2 or 3 levels,
  // and one rounding of each square.
  for (const std::size_t count : {1UL, 255UL, 2048UL, 2049UL, 100003UL}) {
    const auto values = test::drawn(InputKind::student_t3, count);
    double magnitudes = 0.0;
    double squares = 0.0;
    for (const float value : values) {
      magnitudes += std::abs(wide(value));
      squares += wide(value) * wide(value);
    }
    const double relative = 2.0 * 18.0 * std::ldexp(1.0, -24);
    CHECK_THAT(wide(sum_of_magnitudes(values)), Catch::Matchers::WithinRel(magnitudes, relative));
    CHECK_THAT(wide(sum_of_squares(values)), Catch::Matchers::WithinRel(squares, relative));
  }
  CHECK(sum_of_magnitudes({}) == 0.0F);
}

TEST_CASE("what EF-signSGD sends and what it keeps add up to what it was given") {
  // Karimireddy et al., algorithm 1: after every step, sum of sent = sum of gradients - error.
  constexpr std::size_t count = 1001;
  std::vector<float> error(count, 0.0F);
  std::vector<double> given(count, 0.0);
  std::vector<double> sent(count, 0.0);
  for (std::uint64_t step = 0; step < 20; ++step) {
    const auto gradient = test::drawn(InputKind::laplace, count, step + 1);
    const SignMessage message = encode_with_error_feedback(gradient, error);
    const auto decoded = unpack_signs(message.words, message.scale, count);
    for (std::size_t i = 0; i < count; ++i) {
      given[i] += wide(gradient[i]);
      sent[i] += wide(decoded[i]);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    REQUIRE_THAT(sent[i] + wide(error[i]), Catch::Matchers::WithinAbs(given[i], 1e-7));
  }
}

TEST_CASE("scaled signs contract: the error is (1 - ||p||_1^2 / (d ||p||_2^2)) ||p||^2") {
  // Karimireddy et al., lemma 8, an equality for the scale ||p||_1 / d.
  for (const auto kind : {InputKind::gaussian, InputKind::student_t3, InputKind::constant}) {
    const auto values = test::drawn(kind, 4099);
    std::vector<float> error(values.size(), 0.0F);
    (void)encode_with_error_feedback(values, error);
    double norm1 = 0.0;
    double norm2 = 0.0;
    double left = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      norm1 += std::abs(wide(values[i]));
      norm2 += wide(values[i]) * wide(values[i]);
      left += wide(error[i]) * wide(error[i]);
    }
    const double d = static_cast<double>(values.size());
    CHECK_THAT(left, Catch::Matchers::WithinAbs((1.0 - norm1 * norm1 / (d * norm2)) * norm2,
                                                1e-5 * norm2));
  }
}
