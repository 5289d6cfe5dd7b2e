// SPDX-License-Identifier: Apache-2.0
#include "cli/table.hpp"

#include "tests/catch.hpp"

using namespace payoff;

TEST_CASE("a table is aligned by characters, and is Markdown") {
  Table table({{"strategy", Align::left}, {"step [ms]", Align::right}, {"fits", Align::center}});
  table.add({"none", "412.0 ± 9.1", "yes"});
  table.add({"powersgd:rank=4", "41.2 ± 0.8", "no"});
  CHECK(table.markdown() ==
        "| strategy        |   step [ms] | fits |\n"
        "|-----------------|------------:|:----:|\n"
        "| none            | 412.0 ± 9.1 | yes  |\n"
        "| powersgd:rank=4 |  41.2 ± 0.8 |  no  |\n");
}

TEST_CASE("a text is cut between characters, and as long as it may be") {
  CHECK(shortened("abcde", 5) == "abcde");
  CHECK(shortened("abcdef", 5) == "ab...");
  CHECK(shortened("αβγδε", 5) == "αβγδε");
  CHECK(shortened("αβγδεζ", 5) == "αβ...");
  CHECK(first_characters("αβ", 1) == "α");
  CHECK(first_characters("αβ", 9) == "αβ");
}

TEST_CASE("a CSV cell with a comma, a quote or a line break is quoted") {
  CHECK(csv_line({"a", "b c", "1.5"}) == "a,b c,1.5\n");
  CHECK(csv_line({"topk:ratio=0.01,placement=side", "say \"x\""}) ==
        "\"topk:ratio=0.01,placement=side\",\"say \"\"x\"\"\"\n");
  CHECK(csv_line({"two\nlines"}) == "\"two\nlines\"\n");
}

TEST_CASE("three significant digits are three, whatever the size") {
  CHECK(significant(0.0) == "0");
  CHECK(significant(0.01234) == "0.0123");
  CHECK(significant(1.234) == "1.23");
  CHECK(significant(9.996) == "10.0");  // rounding carries into the next power of ten
  CHECK(significant(99.96) == "100");
  CHECK(significant(123.4) == "123");
  CHECK(significant(123456.0) == "123000");
  CHECK(significant(-2.345) == "-2.35");
}

TEST_CASE("what a number may be off has two digits") {
  CHECK(with_interval(14.66, 6.04, 31.7) == "14.7 (6.0 to 31.7)");
  CHECK(with_interval(1.3319, 0.593, 3.256, "s") == "1.33 s (0.59 to 3.26)");
  CHECK(with_interval(412.3, 398.1, 430.9, "ms") == "412 ms (398 to 431)");
  // Narrower than its last digit: more digits.
  CHECK(with_interval(1.0042, 1.0012, 1.0071) == "1.004 (1.001 to 1.007)");
  CHECK(with_interval(2.0, 2.0, 2.0) == "2.00");
  CHECK(with_spread(412.34, 9.123) == "412 ± 9.1");
  CHECK(with_spread(0.5, 0.01) == "0.500 ± 0.010");
}

TEST_CASE("an exact number reads back as itself") {
  for (const double number : {0.1, 1.0 / 3.0, 1e-300, 12345678.9, 5e9}) {
    CHECK(std::stod(exact_number(number)) == number);
  }
}
