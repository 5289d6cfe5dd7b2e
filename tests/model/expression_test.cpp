// SPDX-License-Identifier: Apache-2.0
#include "model/expression.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/catch.hpp"

using Catch::Matchers::ContainsSubstring;
using payoff::Expression;

namespace {

const std::vector<std::string> names{"n", "rows", "rank", "W"};

double value(const std::string& text, std::vector<double> values = {100, 20, 4, 8}) {
  const auto result = Expression::parse(text, names);
  INFO(text);
  REQUIRE(result.errors.empty());
  return result.expression.evaluate(values);
}

std::vector<Expression::Error> errors(const std::string& text) {
  return Expression::parse(text, names).errors;
}

}  // namespace

TEST_CASE("formulas follow the precedence of written mathematics") {
  CHECK(value("2 + 3 * 4") == 14);
  CHECK(value("(2 + 3) * 4") == 20);
  CHECK(value("10 - 3 - 2") == 5);
  CHECK(value("64 / 4 / 2") == 8);
  CHECK(value("2 ^ 3 ^ 2") == 512);
  CHECK(value("-2 ^ 2") == -4);
  CHECK(value("2 ^ -1") == 0.5);
  CHECK(value("-(-3)") == 3);
  CHECK(value("2 * 3 < 7") == 1);
  CHECK(value("1 + 1 >= 3") == 0);
  CHECK(value("3 == 3") == 1);
  CHECK(value("3 != 3") == 0);
  CHECK(value("2 <= 2") == 1);
}

TEST_CASE("formulas know their variables and functions") {
  CHECK(value("n * rank / W") == 50);
  CHECK(value("min(rank, rows)") == 4);
  CHECK(value("max(rank, rows)") == 20);
  CHECK(value("ceil(n / 8)") == 13);
  CHECK(value("floor(n / 8)") == 12);
  CHECK(value("abs(rank - rows)") == 16);
  CHECK(value("log2(W)") == 3);
  CHECK(value("sqrt(n)") == 10);
  CHECK(value("if(rank > 2, rows, n)") == 20);
  CHECK(value("if(rank > 5, rows, n)") == 100);
  CHECK(value("1.5e3 + .5 + 2e-1") == 1500.7);
}

TEST_CASE("the branch that is not taken may divide by zero") {
  CHECK(value("if(W == 1, 0, n / (W - 1))", {100, 20, 4, 1}) == 0);
}

TEST_CASE("min and max take as many values as are given") {
  CHECK(value("min(n, rank, W)") == 4);
  CHECK(value("max(1, rank, W, 7) + 1") == 9);
}

TEST_CASE("a definition stands for its value, whatever surrounds it") {
  const auto inner = Expression::parse("rank + 1", names);
  const std::vector<Expression::Definition> where{{"r", inner.expression}, {"nothing", {}}};
  const auto result = Expression::parse("rows * r ^ 2 - nothing", names, where);
  REQUIRE(result.errors.empty());
  CHECK(result.expression.evaluate(std::vector<double>{100, 20, 4, 8}) == 20 * 25);
}

TEST_CASE("an empty formula is zero and says that it is empty") {
  const auto result = Expression::parse("  ", names);
  CHECK(result.errors.empty());
  CHECK(result.expression.empty());
  CHECK(result.expression.evaluate(std::vector<double>(4)) == 0);
}

TEST_CASE("every unknown name of a formula is reported at its place") {
  const auto found = errors("n * ranks + colums(2) + rank");
  REQUIRE(found.size() == 2);
  CHECK(found[0].name == "ranks");
  CHECK(found[0].offset == 4);
  CHECK(found[0].length == 5);
  CHECK(found[1].name == "colums");
  CHECK(found[1].offset == 12);
  CHECK_THAT(found[1].message, ContainsSubstring("unknown function"));
}

TEST_CASE("a structural error is reported once and at its place") {
  struct Case {
    std::string text;
    std::size_t offset;
    std::string message;
  };
  const std::vector<Case> cases{{"n *", 3, "value is expected"},
                                {"(n", 2, "')' is missing"},
                                {"n rank", 2, "unexpected 'r'"},
                                {"n ** rank", 3, "unexpected '*'"},
                                {"min(n)", 0, "takes 2 values or more, not 1"},
                                {"1.2.3", 0, "as a number"},
                                {"4GB", 0, "as a number"},
                                {"1e999", 0, "does not fit as a number"},
                                {"n $ 2", 2, "unexpected '$'"},
                                {"n \u00d7 2", 2, "unexpected '\u00d7'"},
                                {"min", 0, "no values given"},
                                {"()", 1, "value is expected"},
                                {"0x10", 0, "as a number"}};
  for (const Case& c : cases) {
    INFO(c.text);
    const auto found = errors(c.text);
    REQUIRE(found.size() == 1);
    CHECK(found[0].offset == c.offset);
    CHECK_THAT(found[0].message, ContainsSubstring(c.message));
  }
}

TEST_CASE("a formula nested or piled too deep is refused, not overflown") {
  CHECK_FALSE(errors(std::string(5000, '(') + "n" + std::string(5000, ')')).empty());
  CHECK_FALSE(errors(std::string(5000, '-') + "n").empty());
  std::string pile = "n";
  for (int i = 0; i < 60; ++i) {
    pile = "1+(" + pile + ")";
  }
  CHECK_FALSE(errors(pile).empty());
}

// Each of them stands for twice the one before it: thirty lines are 2^30 steps.
TEST_CASE("a formula that grows with every name it uses is refused before it is long") {
  std::vector<Expression::Definition> where;
  std::string last = "n";
  bool refused = false;
  for (int i = 0; i < 30; ++i) {
    const std::string name = "k" + std::to_string(i);
    const Expression::Result read =
        Expression::parse(last + " + " + last, std::vector<std::string>{"n"}, where);
    refused = !read.errors.empty();
    if (refused) {
      CHECK(read.errors.front().message.find("too many steps") != std::string::npos);
      CHECK(i == 11);  // 2^13 - 1 steps: the first beyond 4,096
      break;
    }
    where.emplace_back(name, read.expression);
    last = name;
  }
  CHECK(refused);
}

TEST_CASE("lanes give what one evaluation at a time gives") {
  const std::vector<std::string> formulas{"n*rank - rows/W",
                                          "if(rows > rank, min(n, rows), max(n, W))",
                                          "ceil(n/8) + floor(rows/3) + sqrt(n)",
                                          "log2(W) ^ 2 + abs(rank - rows)",
                                          "(n < rows) + (n >= rank) + (n == rows) + (n != W)",
                                          "-rank"};
  std::vector<Expression::Lanes> lanes(names.size());
  for (std::size_t v = 0; v < lanes.size(); ++v) {
    for (std::size_t i = 0; i < Expression::lanes; ++i) {
      lanes[v][i] = static_cast<double>(1 + (i * 7 + v * 13) % 29);
    }
  }
  for (const auto& text : formulas) {
    INFO(text);
    const auto result = Expression::parse(text, names);
    REQUIRE(result.errors.empty());
    const auto together = result.expression.evaluate_lanes(lanes);
    for (std::size_t i = 0; i < Expression::lanes; ++i) {
      const std::vector<double> one{lanes[0][i], lanes[1][i], lanes[2][i], lanes[3][i]};
      CHECK(together[i] == result.expression.evaluate(one));
    }
  }
}

TEST_CASE("a stored program is the expression that it was") {
  const auto parsed = Expression::parse("if(rows > rank, min(n, rows), 2) * W", names);
  REQUIRE(parsed.errors.empty());
  const auto program = parsed.expression.program();
  const auto again =
      Expression::assemble(parsed.expression.text(), {program.begin(), program.end()});
  REQUIRE(again);
  const std::vector<double> values{100, 20, 4, 8};
  CHECK(again->evaluate(values) == parsed.expression.evaluate(values));
  CHECK(again->values_needed() == parsed.expression.values_needed());
  CHECK(again->text() == parsed.expression.text());
}

TEST_CASE("a program that would leave its stack is no expression") {
  using Operation = Expression::Operation;
  const Expression::Instruction one{Operation::constant, 0, 1.0};
  const Expression::Instruction add{Operation::add, 0, 0.0};
  CHECK(Expression::assemble("", {}));
  CHECK(Expression::assemble("1 + 1", {one, one, add}));
  CHECK_FALSE(Expression::assemble("1 1", {one, one}));
  CHECK_FALSE(Expression::assemble("1 +", {one, add}));
  CHECK_FALSE(Expression::assemble("deep", std::vector<Expression::Instruction>(100, one)));
  CHECK_FALSE(Expression::assemble("?", {{static_cast<Operation>(200), 0, 0.0}}));
}
