// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/session.hpp"
#include "model/series_text.hpp"
#include "model/units_text.hpp"
#include "profiles/quantity_range.hpp"
#include "profiles/suggest.hpp"

// Values of options that are not keys of an experiment file. What is wrong is reported under the
// guilty part of the argument, and the fallback stands in for it.

namespace payoff {

inline constexpr OptionSpec threads_option{"--threads", "N", "default: all cores", Takes::value};
inline constexpr OptionSpec force_option{"--force", "", "lets --save write over a file that exists",
                                         Takes::nothing};

void report_text_error(std::string_view option, const Argument& argument, const TextError& error,
                       Session& session);

[[nodiscard]] std::optional<int> integer_value(const Arguments& arguments, std::string_view option,
                                               IntegerRange range, Session& session);

// For counts beyond the range of int.
[[nodiscard]] std::optional<std::int64_t> long_value(const Arguments& arguments,
                                                     std::string_view option, IntegerRange range,
                                                     Session& session);

// "5 %" or "0.05"; `fallback` where it is not given, and where it is no ratio, which is reported.
[[nodiscard]] double ratio_value(const Arguments& arguments, std::string_view option,
                                 double fallback, Session& session);

[[nodiscard]] std::optional<double> number_value(const Arguments& arguments,
                                                 std::string_view option, NumberRange range,
                                                 Session& session);

template <class T>
[[nodiscard]] std::vector<T> series_value(const Arguments& arguments, std::string_view option,
                                          std::string_view fallback, Session& session) {
  const std::optional<Argument> given = arguments.value(option);
  Parsed<std::vector<T>> parsed = parse_series<T>(given ? given->text : fallback);
  if (!parsed) {
    report_text_error(option, *given, parsed.error, session);
    return {};
  }
  return std::move(*parsed.value);
}

// The same where every value has a range.
template <class T>
[[nodiscard]] std::vector<T> series_value(const Arguments& arguments, std::string_view option,
                                          std::string_view fallback, const QuantityRange<T>& range,
                                          Session& session) {
  std::vector<T> values = series_value<T>(arguments, option, fallback, session);
  for (const T& value : values) {
    const std::optional<Argument> given = arguments.value(option);
    if (const auto error = out_of_range(range, value, given ? given->text : fallback)) {
      report_text_error(option, *given, *error, session);
      return {};
    }
  }
  return values;
}

// A quantity with its unit, within a range.
template <class Q>
[[nodiscard]] std::optional<Q> quantity_value(const Arguments& arguments, std::string_view option,
                                              const QuantityRange<Q>& range, Session& session) {
  const std::optional<Argument> given = arguments.value(option);
  if (!given) {
    return std::nullopt;
  }
  const Parsed<Q> parsed = parse_quantity<Q>(given->text, Sign::positive);
  const auto error = parsed ? out_of_range(range, *parsed, given->text) : parsed.error;
  if (error) {
    report_text_error(option, *given, *error, session);
    return std::nullopt;
  }
  return *parsed;
}

// The value of `text` in a table of names; reports an unknown one with a suggestion.
void report_unknown_name(std::string_view what, const Argument& argument,
                         const std::vector<std::string>& known, Session& session);

template <class T>
[[nodiscard]] std::optional<T> named_value(std::string_view what, const Argument& argument,
                                           const std::vector<std::pair<std::string, T>>& names,
                                           Session& session) {
  std::vector<std::string> known;
  for (const auto& [name, value] : names) {
    if (name == argument.text) {
      return value;
    }
    known.push_back(name);
  }
  report_unknown_name(what, argument, known, session);
  return std::nullopt;
}

}  // namespace payoff
