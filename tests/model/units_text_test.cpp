// SPDX-License-Identifier: Apache-2.0
#include "model/units_text.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/catch.hpp"

using namespace payoff;

namespace {

// The text that the reader would put before and beside the caret, in one line.
template <class Q>
std::string refusal(const std::string& text, Sign sign = Sign::non_negative) {
  const Parsed<Q> parsed = parse_quantity<Q>(text, sign);
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error.offset + parsed.error.length <= text.size());
  return parsed.error.problem + " | " + parsed.error.label;
}

// Doubles of every magnitude: random bits, so that exponents are spread evenly.
double any_positive_double(std::mt19937_64& random) {
  for (;;) {
    const double value = std::abs(std::bit_cast<double>(random()));
    if (std::isfinite(value) && value > 1e-290 && value < 1e290) {
      return value;
    }
  }
}

}  // namespace

TEST_CASE("a quantity is a number and a unit with or without a space") {
  CHECK(*parse_quantity<Seconds>("5 us") == 5_us);
  CHECK(*parse_quantity<Seconds>("5us") == 5_us);
  CHECK(*parse_quantity<Seconds>("  5   us ") == 5_us);
  CHECK(*parse_quantity<Seconds>("1.5e3 ms") == 1.5_s);
  CHECK(*parse_quantity<Seconds>("2 h") == 7200_s);
  CHECK(*parse_quantity<Seconds>("1.5 min") == 90_s);
  CHECK(*parse_quantity<Bytes>("64 MiB") == 64_MiB);
  CHECK(*parse_quantity<Bytes>("8B") == 8_B);
  CHECK(*parse_quantity<FlopRate>("312 TFLOP/s") == 312_TFLOPps);
  CHECK(*parse_quantity<Flops>("4 GFLOP") == 4_GFLOP);
}

TEST_CASE("GB is not GiB and Gb is an eighth of GB") {
  // nccl-tests and every datasheet count 1e9 bytes in a GB; taking 2^30 is an error of 7.4 %.
  CHECK(parse_quantity<Bytes>("1 GB")->si == 1e9);
  CHECK(parse_quantity<Bytes>("1 GiB")->si == 1073741824.0);
  CHECK(parse_quantity<Bytes>("1 Gb")->si == 1.25e8);
  CHECK(parse_quantity<Bandwidth>("400 Gb/s")->si == 50e9);
  CHECK(parse_quantity<Bandwidth>("400 GB/s")->si == 400e9);
  CHECK(parse_quantity<Bandwidth>("400 GiB/s")->si == 400.0 * 1073741824.0);
  CHECK(*parse_quantity<Bandwidth>("10 kb/s") == *parse_quantity<Bandwidth>("10 Kb/s"));
}

TEST_CASE("a number without a unit is refused unless it is zero") {
  const Parsed<Bandwidth> bare = parse_quantity<Bandwidth>("400");
  REQUIRE_FALSE(bare);
  CHECK(bare.error.problem == "has no unit");
  CHECK(bare.error.label == "a bare number is ambiguous");
  CHECK(bare.error.example == "400 Gb/s");
  // 1 Gb/s in bits and 0.4 Tb/s: no number that anybody writes in Gb/s.
  CHECK(parse_quantity<Bandwidth>("1000000000").error.example == "5 Gb/s");
  CHECK(parse_quantity<Bandwidth>("0.4").error.example == "5 Gb/s");
  CHECK(bare.error.offset == 0);
  CHECK(bare.error.length == 3);
  CHECK(*parse_quantity<Seconds>("0") == 0_s);
  CHECK(*parse_quantity<Bytes>("0.0") == 0_B);
}

TEST_CASE("an unknown unit is answered with the one that was meant") {
  CHECK(refusal<Bandwidth>("400 Gbps") == "has the unknown unit `Gbps` | did you mean `400 Gb/s`?");
  CHECK(refusal<Bandwidth>("50 GBps") == "has the unknown unit `GBps` | did you mean `50 GB/s`?");
  CHECK(refusal<Bandwidth>("10 Gbit/s") ==
        "has the unknown unit `Gbit/s` | did you mean `10 Gb/s`?");
  CHECK(refusal<Bandwidth>("400 gbps") ==
        "has the unknown unit `gbps` | did you mean `400 GB/s` or `400 Gb/s`?");
  CHECK(refusal<Bandwidth>("400 GB") == "is a size, not a bandwidth | did you mean `400 GB/s`?");
  CHECK(refusal<Bytes>("25 mib") == "has the unknown unit `mib` | did you mean `25 MiB`?");
  CHECK(refusal<Bytes>("25 MBytes") == "has the unknown unit `MBytes` | did you mean `25 MB`?");
  CHECK(refusal<Seconds>("5 µs") == "has the unknown unit `µs` | did you mean `5 us`?");
  CHECK(refusal<Seconds>("5 sec") == "has the unknown unit `sec` | did you mean `5 s`?");
  CHECK(refusal<FlopRate>("312 TFLOPS") ==
        "has the unknown unit `TFLOPS` | did you mean `312 TFLOP/s`?");
  CHECK(refusal<Seconds>("5 parsec") == "has the unknown unit `parsec` | ");
  CHECK(parse_quantity<Seconds>("5 parsec").error.help ==
        "units of a time: s, ms, us, ns, ps, min, h");
  CHECK(parse_quantity<Bandwidth>("  400  Gbps ").error.offset == 7);
  CHECK(parse_quantity<Bandwidth>("  400  Gbps ").error.length == 4);
}

TEST_CASE("what is not a finite decimal number is refused") {
  CHECK(refusal<Seconds>("") == "is empty | nothing here");
  CHECK(refusal<Seconds>("   ") == "is empty | nothing here");
  CHECK(refusal<Seconds>("fast") == "is not a time | must start with a number");
  CHECK(refusal<Seconds>("inf s") == "is not a time | must be a finite number");
  CHECK(refusal<Seconds>("NaN s") == "is not a time | must be a finite number");
  CHECK(refusal<Seconds>("1e999 s") == "is out of range | does not fit a double-precision number");
  CHECK(refusal<Bytes>("1e308 GB") == "is out of range | too large");
  CHECK(refusal<Bytes>("1,5 GB") ==
        "is not a size | write `.` for the decimal point and no separators between digits");
  CHECK(refusal<Bytes>("0x10 B") == "has the unknown unit `x10 B` | ");
  CHECK(refusal<Seconds>("- 5 s") == "is not a time | must start with a number");
  CHECK(refusal<Seconds>(". s") == "is not a time | must start with a number");
}

TEST_CASE("a negative quantity is refused unless it is asked for") {
  CHECK(refusal<Seconds>("-5 us") == "is negative | must not be negative");
  CHECK(refusal<Seconds>("0 us", Sign::positive) == "is zero | must be above zero");
  CHECK(refusal<Seconds>("-5 us", Sign::positive) == "is negative | must be above zero");
  CHECK(*parse_quantity<Seconds>("-5 us", Sign::any) == -5_us);
  CHECK_FALSE(std::signbit(parse_quantity<Seconds>("-0 s")->si));
}

TEST_CASE("an E after the digits belongs to the unit unless an exponent follows") {
  CHECK(refusal<Bytes>("1 EB") == "has the unknown unit `EB` | ");
  CHECK(refusal<Bytes>("1EB") == "has the unknown unit `EB` | ");
  CHECK(parse_quantity<FlopRate>("1EFLOP/s")->si == 1e18);
  CHECK(parse_quantity<FlopRate>("1E3FLOP/s")->si == 1e3);
}

TEST_CASE("a ratio is a number or a percentage") {
  CHECK(*parse_ratio("0.01") == 0.01);
  CHECK(*parse_ratio("1 %") == 0.01);
  CHECK(*parse_ratio("100%") == 1.0);
  CHECK(parse_ratio("50").error.problem == "is too large");
  CHECK(parse_ratio("50").error.label == "must be at most 1");
  CHECK(parse_ratio("50").error.example == "50 %");
  CHECK(parse_ratio("1 percent").error.label == "a ratio has no unit but `%`");
  CHECK(parse_ratio("-1 %").error.problem == "is too small");
  CHECK(parse_ratio("-1 %").error.label == "must be at least 0 %");
  CHECK(parse_ratio("150%").error.label == "must be at most 100 %");
}

TEST_CASE("a count is written in decimal digits") {
  CHECK(*parse_integer("1048576") == 1048576);
  CHECK(*parse_integer("-3") == -3);
  CHECK(*parse_integer("0") == 0);
  CHECK(parse_integer("017").error.problem == "starts with a zero");
  for (const char* text : {"", "-", "1.5", "0x10", "1e3", "1,048,576", "8 GPUs", "eight", "+1"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_integer(text));
  }
  CHECK(parse_integer("99999999999999999999").error.problem == "is out of range");
  CHECK(parse_integer("0", {1, 8}).error.label == "must be at least 1");
  CHECK(parse_integer("9", {1, 8}).error.label == "must be at most 8");
}

TEST_CASE("printing uses SI units and three significant digits") {
  CHECK(to_text(1.8349_ms) == "1.83 ms");
  CHECK(to_text(5_us) == "5 us");
  CHECK(to_text(412_ms) == "412 ms");
  CHECK(to_text(64_MiB) == "67.1 MB");
  CHECK(to_text(400_Gbps) == "50 GB/s");
  CHECK(link_rate_text(400_Gbps) == "400 Gb/s");
  CHECK(link_rate_text(12.5_Gbps) == "12.5 Gb/s");
  CHECK(to_text(312_TFLOPps) == "312 TFLOP/s");
  CHECK(to_text(0_s) == "0 s");
  CHECK(to_text(-1.5_ms) == "-1.5 ms");
  CHECK(percent_text(0.015) == "1.5 %");
  CHECK(number_text(1.2149) == "1.21");
  CHECK(number_text(1048576, 15) == "1048576");
  CHECK(number_text(1.23e-7) == "1.23e-7");
}

TEST_CASE("rounding up to the next unit changes the unit") {
  CHECK(to_text(999.4_us) == "999 us");
  CHECK(to_text(999.6_us) == "1 ms");
  CHECK(to_text(Seconds{0.9999}) == "1 s");
}

TEST_CASE("beyond the largest and the smallest unit digits are added") {
  CHECK(to_text(123456_s) == "123000 s");
  CHECK(to_text(Seconds{1.234e-15}) == "0.00123 ps");
  CHECK(to_text(Seconds{std::numeric_limits<double>::infinity()}) == "inf s");
}

TEST_CASE("the exact text is the one that a person would have written") {
  CHECK(exact_text(64_MiB) == "64 MiB");
  CHECK(exact_text(25_MiB) == "25 MiB");
  CHECK(exact_text(80_GB) == "80 GB");
  CHECK(exact_text(Bytes{128974856}) == "128974856 B");  // not 1.031798848 Gb
  CHECK(exact_text(5_us) == "5 us");
  CHECK(exact_text(1.5_ms) == "1.5 ms");
  CHECK(exact_text(900_GBps) == "900 GB/s");
  CHECK(exact_link_rate_text(400_Gbps) == "400 Gb/s");
  CHECK(exact_text(312_TFLOPps) == "312 TFLOP/s");
  CHECK(exact_text(0_B) == "0 B");
}

TEST_CASE("the exact text of any quantity reads back as the same number") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const double si = any_positive_double(random);
    CAPTURE(si);
    CHECK(parse_quantity<Seconds>(exact_text(Seconds{si}))->si == si);
    CHECK(parse_quantity<Bytes>(exact_text(Bytes{si}))->si == si);
    CHECK(parse_quantity<Bandwidth>(exact_link_rate_text(Bandwidth{si}))->si == si);
    CHECK(parse_quantity<FlopRate>(exact_text(FlopRate{si}))->si == si);
  }
}

TEST_CASE("the printed text of any quantity reads back within its three digits") {
  std::mt19937_64 random(11);
  for (int i = 0; i < 20'000; ++i) {
    const double si = any_positive_double(random);
    CAPTURE(si);
    // Three significant digits: half a unit of the third is at most 0.5 % of the number.
    CHECK(std::abs(parse_quantity<Seconds>(to_text(Seconds{si}))->si / si - 1.0) <= 0.005001);
    CHECK(std::abs(parse_quantity<Bandwidth>(link_rate_text(Bandwidth{si}))->si / si - 1.0) <=
          0.005001);
  }
}

TEST_CASE("no text makes the parsers read outside of it or throw") {
  std::mt19937_64 random(13);
  const std::string alphabet = "0159.,-+eE_ %KMGTkmgtiBbps/FLOPxunh\tµ:";
  for (int i = 0; i < 50'000; ++i) {
    std::string text;
    for (std::uint64_t n = random() % 12; n > 0; --n) {
      text += alphabet[random() % alphabet.size()];
    }
    CAPTURE(text);
    const auto check = [&](const auto& parsed) {
      if (parsed) {
        return;
      }
      CHECK_FALSE(parsed.error.problem.empty());
      CHECK(parsed.error.offset + parsed.error.length <= text.size());
    };
    check(parse_quantity<Seconds>(text));
    check(parse_quantity<Bandwidth>(text, Sign::any));
    check(parse_ratio(text));
    check(parse_number(text));
    check(parse_integer(text));
  }
}
