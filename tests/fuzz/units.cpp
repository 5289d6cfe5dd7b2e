// SPDX-License-Identifier: Apache-2.0
#include "model/units.hpp"

#include <cmath>
#include <string>

#include "model/series_text.hpp"
#include "model/units_text.hpp"
#include "tests/fuzz/target.hpp"

namespace payoff::fuzz {
namespace {

void check(const TextError& error, std::string_view input) {
  if (error.problem.empty() || error.offset + error.length > input.size() + 1) {
    broken("a refusal says why, at a place of the text");
  }
}

// What is accepted is finite, and its exact text is the same number.
template <class Q>
std::string quantity(std::string_view input) {
  const Parsed<Q> parsed = parse_quantity<Q>(input, Sign::any);
  if (!parsed) {
    check(parsed.error, input);
    return parsed.error.problem + parsed.error.help;
  }
  const std::string text = exact_text(*parsed);
  const Parsed<Q> again = parse_quantity<Q>(text, Sign::any);
  if (!std::isfinite(parsed->si) || !again || again->si != parsed->si) {
    broken("an accepted number is finite, and reads back as itself");
  }
  return text;
}

template <class T>
std::string series(std::string_view input) {
  const Parsed<std::vector<T>> parsed = parse_series<T>(input, 1000);
  if (!parsed) {
    check(parsed.error, input);
    return parsed.error.problem;
  }
  if (parsed->empty() || parsed->size() > 1000) {
    broken("a series has at least one value, and not more than its limit");
  }
  return std::to_string(parsed->size());
}

template <class T>
std::string number(const Parsed<T>& parsed, std::string_view input) {
  if (!parsed) {
    check(parsed.error, input);
    return parsed.error.problem;
  }
  if constexpr (requires { parsed->si; }) {
    return std::to_string(parsed->si);
  } else {
    return std::to_string(*parsed);
  }
}

}  // namespace

std::string read_units(std::string_view input) {
  return quantity<Seconds>(input) + quantity<Bytes>(input) + quantity<Bandwidth>(input) +
         quantity<Flops>(input) + quantity<FlopRate>(input) +
         number(parse_quantity<Watts>(input), input) + number(parse_quantity<Price>(input), input) +
         number(parse_ratio(input), input) + number(parse_number(input), input) +
         number(parse_integer(input), input) + series<Seconds>(input) + series<Bytes>(input) +
         series<Bandwidth>(input) + series<std::int64_t>(input) + series<double>(input);
}

}  // namespace payoff::fuzz
