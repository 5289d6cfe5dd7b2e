// SPDX-License-Identifier: Apache-2.0
#include "kernels/codec/minifloat.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/catch.hpp"
#include "tests/kernels/tensors.hpp"

using namespace payoff::kernels;

namespace {

// The value of a code straight from the definition of a binary format.
double defined_value(const Minifloat& format, std::uint32_t code) {
  const auto mantissa_steps = static_cast<double>(1 << format.mantissa_bits);
  const std::uint32_t mantissa = code & ((1U << static_cast<unsigned>(format.mantissa_bits)) - 1U);
  const int exponent = static_cast<int>(code >> static_cast<unsigned>(format.mantissa_bits));
  return exponent == 0 ? std::ldexp(mantissa / mantissa_steps, 1 - format.bias())
                       : std::ldexp(1.0 + mantissa / mantissa_steps, exponent - format.bias());
}

// The code of the nearest value by searching the table of all values; a tie goes to the even code.
std::uint32_t nearest_code(const Minifloat& format, const std::vector<double>& table,
                           double value) {
  const auto above = std::lower_bound(table.begin(), table.end(), value);
  if (above == table.end()) {
    return format.largest;
  }
  const auto high = static_cast<std::uint32_t>(above - table.begin());
  if (high == 0 || *above == value) {
    return high;
  }
  const double down = value - table[high - 1];
  const double up = table[high] - value;
  if (down == up) {
    return high % 2 == 0 ? high : high - 1;
  }
  return down < up ? high - 1 : high;
}

template <Minifloat format>
void check_format() {
  std::vector<double> table;
  for (std::uint32_t code = 0; code <= format.largest; ++code) {
    table.push_back(defined_value(format, code));
    const float decoded = decode_minifloat<format>(code);
    REQUIRE((static_cast<double>(decoded) == table.back() &&
             encode_minifloat<format>(decoded) == code &&
             encode_minifloat<format>(-decoded) == (code | format.sign())));
  }
  // Every tie, and the floats on both sides of it.
  int wrong = 0;
  for (std::uint32_t code = 0; code < format.largest; ++code) {
    const auto middle = static_cast<float>((table[code] + table[code + 1]) / 2.0);
    for (const float value : {std::nextafter(middle, 0.0F), middle,
                              std::nextafter(middle, std::numeric_limits<float>::max())}) {
      const double exact = static_cast<double>(value);
      wrong += encode_minifloat<format>(value) == nearest_code(format, table, exact) ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
  for (const auto& tensor : test::tensors()) {
    INFO(tensor.name);
    for (const float value : tensor.values) {
      const float scaled = value * 1000.0F;
      const double size = std::abs(static_cast<double>(scaled));
      const std::uint32_t code = encode_minifloat<format>(scaled) & (format.sign() - 1U);
      if (code <= format.largest) {
        REQUIRE(code == nearest_code(format, table, size));
      }
    }
  }
}

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("8- and 4-bit numbers are the nearest of their tables, ties to even") {
  check_format<e4m3>();
  check_format<e5m2>();
  check_format<e2m1>();
}

TEST_CASE("binary16 is the nearest of its table, ties to even") { check_format<binary16>(); }

TEST_CASE("the largest finite numbers are those that the formats' papers name") {
  CHECK(decode_minifloat<e4m3>(e4m3.largest) == 448.0F);
  CHECK(decode_minifloat<e5m2>(e5m2.largest) == 57344.0F);
  CHECK(decode_minifloat<e2m1>(e2m1.largest) == 6.0F);
  CHECK(decode_minifloat<binary16>(binary16.largest) == 65504.0F);
}

TEST_CASE("narrow formats saturate, casts overflow, and NaN stays NaN where there is one") {
  CHECK(encode_minifloat<e4m3>(1e9F) == 0x7eU);
  CHECK(encode_minifloat<e4m3>(-infinity) == 0xfeU);
  CHECK(encode_minifloat<e5m2>(infinity) == 0x7bU);
  CHECK(encode_minifloat<e2m1>(-100.0F) == 0xfU);
  CHECK(to_half(1e9F).bits == 0x7c00U);
  CHECK(to_half(65519.99F).bits == 0x7bffU);  // below the middle of 65504 and the next step
  CHECK(to_half(65520.0F).bits == 0x7c00U);
  CHECK(std::isinf(to_float(to_half(-infinity))));
  CHECK(std::isnan(to_float(to_half(not_a_number))));
  CHECK(std::isnan(to_float(to_bf16(not_a_number))));
  CHECK(std::isnan(decode_minifloat<e4m3>(encode_minifloat<e4m3>(not_a_number))));
  CHECK(std::isnan(decode_minifloat<e5m2>(encode_minifloat<e5m2>(not_a_number))));
  CHECK(std::isinf(decode_minifloat<e5m2>(0x7cU)));
}

TEST_CASE("bfloat16 is the nearer of the two floats whose lower half is empty") {
  for (const auto& tensor : test::tensors()) {
    INFO(tensor.name);
    for (const float value : tensor.values) {
      const std::uint32_t bits = bits_of(value);
      const float below = float_of(bits & 0xffff0000U);
      const float above = float_of((bits & 0xffff0000U) + 0x10000U);
      const double down = std::abs(static_cast<double>(value) - static_cast<double>(below));
      const double up = std::abs(static_cast<double>(above) - static_cast<double>(value));
      const bool even_below = ((bits >> 16U) & 1U) == 0U;
      const bool goes_down = down < up || (down == up && even_below);
      REQUIRE(bits_of(to_float(to_bf16(value))) == bits_of(goes_down ? below : above));
    }
  }
}
