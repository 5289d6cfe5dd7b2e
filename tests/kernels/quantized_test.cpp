// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference/quantized.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/codec/natural.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/tensors.hpp"

using namespace payoff::kernels;

namespace {

double wide(float value) { return static_cast<double>(value); }

// The step of every group: what lies between its largest magnitude and that negated, over the
// intervals between codes.
std::vector<double> steps_of(const std::vector<float>& values, std::size_t group,
                             double intervals) {
  std::vector<double> steps;
  for (std::size_t begin = 0; begin < values.size(); begin += group) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last =
        values.size() - begin < group ? values.end() : first + static_cast<std::ptrdiff_t>(group);
    const auto [low, high] = std::minmax_element(first, last);
    const double spread = 2.0 * std::max(std::abs(wide(*low)), std::abs(wide(*high)));
    steps.push_back(std::max(spread / intervals, std::ldexp(1.0, -126)));
  }
  return steps;
}

}  // namespace

TEST_CASE("a quantised group errs by half a step, or less than one when rounding stochastically") {
  const auto bits = GENERATE(8, 4, 2);
  const auto group = GENERATE(std::size_t{32}, std::size_t{50}, std::size_t{2048});
  const auto rounding = GENERATE(Rounding::nearest, Rounding::stochastic);
  const GroupFormat format{bits, group, rounding, {3, 4}};
  const double share = rounding == Rounding::nearest ? 0.5 : 1.0;
  const int intervals = (1 << bits) - 2;  // of an odd number of codes
  for (const auto& tensor : test::tensors()) {
    INFO(tensor.name << ", " << bits << " bits, groups of " << group);
    const std::size_t count = tensor.values.size();
    const ScaledCodes message = quantize_groups(tensor.values, format);
    CHECK(message.codes.size() == (count * static_cast<std::size_t>(bits) + 7) / 8);
    CHECK(message.scales.size() == (count + group - 1) / group);
    const auto back = dequantize_groups(message, format, count);
    // Floats of 24 bits: the level is off by at most 2^-15 of a step of 255.
    const auto steps = steps_of(tensor.values, group, intervals);
    double worst = 0.0;  // share of what is allowed
    for (std::size_t i = 0; i < count; ++i) {
      const double value = wide(tensor.values[i]);
      worst =
          std::max(worst, std::abs(wide(back[i]) - value) / (steps[i / group] * (share + 1e-4)));
    }
    CHECK(worst <= 1.0);
  }
}

TEST_CASE("zero stays exactly zero, and the largest value of a group is exact to rounding") {
  std::vector<float> values = test::drawn(InputKind::gaussian, 512);
  for (std::size_t i = 0; i < values.size(); i += 2) {
    values[i] = 0.0F;
  }
  for (const Rounding rounding : {Rounding::nearest, Rounding::stochastic}) {
    const GroupFormat format{4, 128, rounding, {9, 0}};
    const auto back = dequantize_groups(quantize_groups(values, format), format, values.size());
    for (std::size_t i = 0; i < values.size(); i += 2) {
      REQUIRE((rounding == Rounding::stochastic || back[i] == 0.0F));
    }
    const auto top = static_cast<std::size_t>(
        std::max_element(values.begin(), values.begin() + 128) - values.begin());
    if (rounding == Rounding::nearest && values[top] == largest_magnitude({values.data(), 128})) {
      CHECK_THAT(wide(back[top]), Catch::Matchers::WithinRel(wide(values[top]), 1e-6));
    }
  }
}

TEST_CASE("stochastic rounding is right on average") {
  // The mean of n draws of a value rounded to one of two codes one step apart has a standard
  // deviation of at most step / (2 sqrt(n)).
  constexpr int draws = 4000;
  const std::vector<float> values{1.0F, -0.31F, 0.77F, 0.05F, -0.999F, 0.0F, 0.5F, -0.123F};
  for (const int bits : {8, 4, 2}) {
    std::vector<double> mean(values.size(), 0.0);
    const double step = 2.0 / ((1 << bits) - 2);
    for (int draw = 0; draw < draws; ++draw) {
      const GroupFormat format{bits, 8, Rounding::stochastic, {5, static_cast<unsigned>(draw)}};
      const auto back = dequantize_groups(quantize_groups(values, format), format, values.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        mean[i] += wide(back[i]) / draws;
      }
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      INFO(bits << " bits, value " << values[i]);
      CHECK(std::abs(mean[i] - wide(values[i])) < 4.5 * step / (2.0 * std::sqrt(draws)));
    }
  }
}

TEST_CASE("a reduction of messages is the quantised sum of what they decode to") {
  const GroupFormat format{8, 64, Rounding::nearest, {}};
  constexpr std::size_t count = 1003;
  constexpr std::size_t workers = 5;
  std::vector<ScaledCodes> messages;
  std::vector<double> exact(count, 0.0);
  double bound_of_inputs = 0.0;
  for (std::size_t worker = 0; worker < workers; ++worker) {
    const auto values = test::drawn(InputKind::laplace, count, worker + 10);
    messages.push_back(quantize_groups(values, format));
    bound_of_inputs += wide(largest_magnitude(values)) / 254.0;
    for (std::size_t i = 0; i < count; ++i) {
      exact[i] += wide(values[i]);
    }
  }
  const ScaledCodes reduced = reduce_groups(messages, format, count);
  const auto back = dequantize_groups(reduced, format, count);
  // Half a step of every input and half a step of the sum, whose largest value bounds it.
  const double top = std::abs(*std::max_element(
      exact.begin(), exact.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
  for (std::size_t i = 0; i < count; ++i) {
    REQUIRE(std::abs(wide(back[i]) - exact[i]) <=
            1.001 * (bound_of_inputs + (top + bound_of_inputs) / 254.0));
  }
}

TEST_CASE("other widths than 8, 4 and 2 bits are refused") {
  const std::vector<float> values(8, 1.0F);
  CHECK_THROWS_AS((void)quantize_groups(values, {3, 8, Rounding::nearest, {}}),
                  std::invalid_argument);
}

TEST_CASE("natural compression gives a neighbouring power of two, right on average") {
  constexpr int draws = 4000;
  for (const float value : {1.0F, 1.5F, -1.1F, 0.3F, -7.99F, 3e-5F}) {
    const double size = std::abs(wide(value));
    const double below = std::ldexp(1.0, std::ilogb(size));
    double mean = 0.0;
    double second = 0.0;
    for (std::uint64_t draw = 0; draw < draws; ++draw) {
      const double back = wide(decode_natural(encode_natural(value, random_half({8, 1}, draw))));
      REQUIRE((std::abs(back) == below || std::abs(back) == 2.0 * below));
      REQUIRE((back < 0.0) == (value < 0.0F));
      mean += back / draws;
      second += back * back / draws;
    }
    INFO(value);
    // Two values `below` apart: standard deviation at most below / 2.
    CHECK(std::abs(mean - wide(value)) < 4.5 * below / (2.0 * std::sqrt(draws)));
    CHECK(second <= 1.02 * 9.0 / 8.0 * size * size);  // theorem 1, and the scatter of 4,000 draws
  }
}

TEST_CASE("natural compression keeps powers of two, zero, and its window's ends") {
  for (int exponent = natural_least_exponent; exponent <= 16; ++exponent) {
    REQUIRE(decode_natural(encode_natural(-power_of_two(exponent), 0xffff)) ==
            -power_of_two(exponent));
  }
  CHECK(decode_natural(encode_natural(0.0F, 0xffff)) == 0.0F);
  CHECK(decode_natural(encode_natural(1e-40F, 0xffff)) == 0.0F);
  CHECK(decode_natural(encode_natural(1e30F, 0)) == 65536.0F);
}

TEST_CASE("a tensor's values are compressed naturally one by one, within a factor of two") {
  for (const auto& tensor : test::tensors()) {
    INFO(tensor.name);
    const auto bytes = encode_natural(tensor.values, {2, 2});
    REQUIRE(bytes.size() == tensor.values.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const double size = std::abs(wide(tensor.values[i]));
      const double back = std::abs(wide(decode_natural(bytes[i])));
      if (size < std::ldexp(1.0, natural_least_exponent)) {
        REQUIRE(back == 0.0);
      } else if (size >= 65536.0) {
        REQUIRE(back == 65536.0);
      } else {
        REQUIRE((back > size / 2.0 && back < 2.0 * size));
      }
    }
  }
}
