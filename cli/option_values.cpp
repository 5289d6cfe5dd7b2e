// SPDX-License-Identifier: Apache-2.0
#include "cli/option_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace payoff {

void report_text_error(std::string_view option, const Argument& argument, const TextError& error,
                       Session& session) {
  Span span = argument.span;
  if (error.length > 0) {
    span = {span.source, span.offset + error.offset, error.length};
  }
  std::string help = error.help;
  if (!error.example.empty()) {
    help = fmt::format("for example `{} '{}'`", option, error.example);
  }
  session.diagnostics().error(span, fmt::format("`{}` {}", option, error.problem), error.label,
                              help);
}

std::optional<int> integer_value(const Arguments& arguments, std::string_view option,
                                 IntegerRange range, Session& session) {
  const std::optional<std::int64_t> value = long_value(arguments, option, range, session);
  return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

std::optional<std::int64_t> long_value(const Arguments& arguments, std::string_view option,
                                       IntegerRange range, Session& session) {
  const std::optional<Argument> given = arguments.value(option);
  if (!given) {
    return std::nullopt;
  }
  const Parsed<std::int64_t> parsed = parse_integer(given->text, range);
  if (!parsed) {
    report_text_error(option, *given, parsed.error, session);
    return std::nullopt;
  }
  return *parsed;
}

std::optional<double> number_value(const Arguments& arguments, std::string_view option,
                                   NumberRange range, Session& session) {
  const std::optional<Argument> given = arguments.value(option);
  if (!given) {
    return std::nullopt;
  }
  const Parsed<double> parsed = parse_number(given->text, range);
  if (!parsed) {
    report_text_error(option, *given, parsed.error, session);
    return std::nullopt;
  }
  return *parsed;
}

double ratio_value(const Arguments& arguments, std::string_view option, double fallback,
                   Session& session) {
  const std::optional<Argument> given = arguments.value(option);
  if (!given) {
    return fallback;
  }
  const Parsed<double> parsed = parse_ratio(given->text);
  if (!parsed) {
    report_text_error(option, *given, parsed.error, session);
  }
  return parsed.value.value_or(fallback);
}

void report_unknown_name(std::string_view what, const Argument& argument,
                         const std::vector<std::string>& known, Session& session) {
  session.diagnostics().error(argument.span,
                              fmt::format("{} is not {}", backquoted(argument.text), what),
                              did_you_mean(closest(argument.text, known)),
                              fmt::format("known: {}", fmt::join(known, ", ")));
}

}  // namespace payoff
