// SPDX-License-Identifier: Apache-2.0
#include "model/series_text.hpp"

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/catch.hpp"

using namespace payoff;

namespace {

using Integers = std::vector<std::int64_t>;

Integers integers(const std::string& text) {
  const auto parsed = parse_series<std::int64_t>(text);
  INFO(text << ": " << parsed.error.problem << ", " << parsed.error.label);
  REQUIRE(parsed);
  return *parsed;
}

template <class T>
std::string refusal(const std::string& text) {
  const auto parsed = parse_series<T>(text);
  REQUIRE_FALSE(parsed);
  // The guilty part and what is said of it.
  return text.substr(parsed.error.offset, parsed.error.length) + " | " + parsed.error.problem;
}

}  // namespace

TEST_CASE("a doubling series goes from its first to its last value") {
  const auto sizes = parse_series<Bytes>("8B..8GiB:x2");
  REQUIRE(sizes);
  // 8 B = 2^3 and 8 GiB = 2^33: 31 powers of two.
  REQUIRE(sizes->size() == 31);
  CHECK(sizes->front() == 8_B);
  CHECK(sizes->back() == 8_GiB);
  for (std::size_t i = 1; i < sizes->size(); ++i) {
    CHECK((*sizes)[i] == 2.0 * (*sizes)[i - 1]);
  }
}

TEST_CASE("the upper end is left out when no step hits it") {
  CHECK(integers("8..100:x2") == Integers{8, 16, 32, 64});
  CHECK(integers("1..10:+4") == Integers{1, 5, 9});
}

TEST_CASE("decimal steps hit the upper end in spite of rounding") {
  // 0.1 has no exact double: ten additions overshoot or fall short of 1.
  const auto ratios = parse_series<double>("0.1..1:+0.1");
  REQUIRE(ratios);
  CHECK(ratios->size() == 10);
  CHECK(ratios->back() == 1.0);
  const auto below_zero = parse_series<double>("-2..-1:+0.5");
  REQUIRE(below_zero);
  CHECK(*below_zero == std::vector<double>{-2.0, -1.5, -1.0});
  const auto times = parse_series<Seconds>("1us..1s:x10");
  REQUIRE(times);
  CHECK(times->size() == 7);
  CHECK(times->back() == 1_s);
}

TEST_CASE("lists and ranges mix and keep the order written") {
  CHECK(integers("8") == Integers{8});
  CHECK(integers("4,1,2") == Integers{4, 1, 2});
  CHECK(integers("1, 2, 4..64:x4, 96") == Integers{1, 2, 4, 16, 64, 96});
  CHECK(integers("1..4") == Integers{1, 2, 3, 4});
  CHECK(integers("5..5:x2") == Integers{5});
  const auto ratios = parse_series<double>("1 %, 10 %");
  REQUIRE(ratios);
  CHECK(*ratios == std::vector<double>{0.01, 0.1});
}

TEST_CASE("a refused series says which part is guilty") {
  CHECK(refusal<Bytes>("8..8GiB:x2") == "8 | has no unit at its first end");
  CHECK(refusal<Bytes>("8B..8Gib:x2") == "Gib | has the unknown unit `Gib`");
  CHECK(refusal<Bytes>("8B..8GiB") == "8B..8GiB | has no step");
  CHECK(refusal<Bytes>("8B..8GiB:2") == "2 | has an unknown step");
  CHECK(refusal<Bytes>("8B..8GiB:x1") == "1 | does not grow");
  // It does, and would take 30 ln 2 / 1e-7 values for thirty doublings.
  CHECK(refusal<Bytes>("8B..8GiB:x1.0000001") == "1.0000001 | grows too slowly");
  CHECK(refusal<Bytes>("8B..8GiB:+0B") == "0B | has no step");
  CHECK(refusal<Bytes>("8MB..8KB:x2") == "8KB | ends before it starts");
  CHECK(refusal<Bytes>("0B..8KB:x2") == "0B..8KB:x2 | cannot grow by a factor");
  CHECK(refusal<std::int64_t>("1..8:x1.5") == "1.5 | is not a whole number");
  CHECK(refusal<std::int64_t>("1..") == "1.. | does not say where it ends");
  CHECK(refusal<Bytes>("..8KB:x2") == "..8KB:x2 | does not say where it starts");
  CHECK(refusal<std::int64_t>("1,,2") == " | is empty");
  CHECK(refusal<std::int64_t>("") == " | is empty");
  CHECK(refusal<std::int64_t>("1..10000000") == "1..10000000 | has too many values");
  CHECK(refusal<Bytes>("0B..1GB:+1B") == "0B..1GB:+1B | has too many values");
}

TEST_CASE("series at the ends of 64 bits do not overflow") {
  const std::string greatest = std::to_string(std::numeric_limits<std::int64_t>::max());
  CHECK(integers("9223372036854775806.." + greatest).size() == 2);
  CHECK(integers("1.." + greatest + ":x2").size() == 63);
  CHECK(integers("-9223372036854775808.." + greatest + ":+" + greatest).size() == 3);
}

TEST_CASE("no text makes the series parser throw, hang or point outside") {
  std::mt19937_64 random(17);
  const std::string alphabet = "0128..,,::xx++BKiMG %e-";
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (std::uint64_t n = random() % 16; n > 0; --n) {
      text += alphabet[random() % alphabet.size()];
    }
    CAPTURE(text);
    const auto check = [&](const auto& parsed) {
      if (parsed) {
        CHECK(parsed->size() <= 1000);
      } else {
        CHECK(parsed.error.offset + parsed.error.length <= text.size());
      }
    };
    check(parse_series<Bytes>(text, 1000));
    check(parse_series<std::int64_t>(text, 1000));
    check(parse_series<double>(text, 1000));
  }
}
