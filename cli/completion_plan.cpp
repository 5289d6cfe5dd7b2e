// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion.hpp"
#include "profiles/read_method.hpp"
#include "profiles/read_plan_part.hpp"

namespace payoff {

std::optional<std::vector<CompletedWord>> completed_parameters(const std::string& typed,
                                                               const Library& library) {
  const std::size_t colon = typed.rfind(':');
  if (colon == std::string::npos || typed.find('+', colon) != std::string::npos) {
    return std::nullopt;
  }
  std::vector<CompletedWord> words;
  const std::size_t comma = typed.rfind(',');
  const std::size_t last = comma == std::string::npos ? colon : std::max(colon, comma);
  if (typed.find('=', last) != std::string::npos) {
    return words;  // of a value nothing is known
  }
  const std::size_t before_method = typed.find_last_of(",+ ", colon);
  const std::size_t method = before_method == std::string::npos ? 0 : before_method + 1;
  const std::string before = typed.substr(0, last + 1);
  SourceMap sources;
  Diagnostics ignored;
  const auto profile = read_method_profile(typed.substr(method, colon - method), std::nullopt,
                                           {library, sources, ignored});
  if (!profile) {
    return words;
  }
  for (const auto& [name, rule] : profile->rules) {
    words.push_back({before + name + "=",
                     rule.values.empty() ? fmt::format("{} to {}{}", rule.min, rule.max,
                                                       rule.integer ? ", a whole number" : "")
                                         : fmt::format("one of {}", fmt::join(rule.values, ", "))});
  }
  for (const std::string_view name : plan_options) {
    words.push_back({before + std::string(name) + "=", ""});
  }
  return words;
}

}  // namespace payoff
