// SPDX-License-Identifier: Apache-2.0
#include "profiles/formula_reader.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "profiles/read_plan_part.hpp"
#include "profiles/suggest.hpp"

namespace payoff {
namespace {

// Words that a parameter or a part of a formula cannot be called.
bool is_taken(const std::string& name) {
  const auto holds = [&](const auto& words) {
    return std::find(words.begin(), words.end(), name) != words.end();
  };
  return holds(formula_variables) || holds(Expression::functions()) || holds(plan_options);
}

bool is_word(const std::string& name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || digit(c); });
}

}  // namespace

void check_name(const std::string& name, const Value& value) {
  if (!is_word(name)) {
    value.error("is not a name for formulas", "", "use letters, digits and _");
  } else if (is_taken(name)) {
    value.error("has a name that is taken", "", "`" + name + "` already means something");
  }
}

Expression FormulaReader::read(const Value& value) const {
  const std::string text = value.text();
  if (value && text.empty() && !value.is_section() && !value.is_list()) {
    value.error("is an empty formula", "", "leave it out, or write 0");
  }
  Expression::Result result = Expression::parse(text, names_, definitions_);
  for (const Expression::Error& error : result.errors) {
    report(value, error);
  }
  return std::move(result.expression);
}

PassFormula FormulaReader::pass(const Section& section) const {
  PassFormula pass;
  pass.bytes = read(section.optional("bytes"));
  pass.random_bytes = read(section.optional("random_bytes"));
  pass.block_bytes = read(section.optional("block_bytes"));
  pass.flops = read(section.optional("flops"));
  pass.kernels = read(section.optional("kernels"));
  pass.host_syncs = read(section.optional("host_syncs"));
  pass.host_seconds = read(section.optional("host_seconds"));
  return pass;
}

PassFormula FormulaReader::pass_of_gradients(const Section& section) const {
  constexpr std::array<std::pair<std::string_view, bool>, 2> processors{
      {{"gpu", false}, {"host", true}}};
  PassFormula result = pass(section);
  const Value on = section.optional("runs_on");
  result.on_host = on && on.choice(processors);
  const Value copied = section.optional("copied");
  result.copied = read(copied);
  if (!result.on_host) {
    if (copied) {
      copied.error("is for passes on the host", "", "say `runs_on: host`, or leave it out");
    }
    return result;
  }
  for (const std::string_view key : {"flops", "host_syncs", "host_seconds"}) {
    if (const Value counted = section.optional(key)) {
      counted.error("is not counted on the host", "",
                    "what cores read and write, random or not, is what they take");
    }
  }
  if (!copied) {
    result.copied = Expression::parse("v * n", names_, definitions_).expression;
  }
  return result;
}

void FormulaReader::define(const std::string& name, const Value& value) {
  check_name(name, value);
  if (std::find(names_.begin(), names_.end(), name) != names_.end() && !is_taken(name)) {
    value.error("has a name that is taken", "", "a parameter is called the same");
  }
  definitions_.emplace_back(name, read(value));
}

void FormulaReader::report(const Value& value, const Expression::Error& error) const {
  std::vector<std::string> known = names_;
  for (const Expression::Definition& definition : definitions_) {
    known.push_back(definition.first);
  }
  for (const std::string_view function : Expression::functions()) {
    known.emplace_back(function);
  }
  const std::string near = error.name.empty() ? std::string{} : closest(error.name, known);
  value.refuse({.problem = "is no formula: " + error.message,
                .label = did_you_mean(near),
                .help = {},
                .example = {},
                .offset = error.offset,
                .length = error.length});
}

}  // namespace payoff
