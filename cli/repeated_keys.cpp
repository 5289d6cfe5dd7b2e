// SPDX-License-Identifier: Apache-2.0
#include "cli/repeated_keys.hpp"

#include <cstddef>

#include <fmt/format.h>

namespace payoff {
namespace {

void report_pair(const WrittenKey& first, const WrittenKey& second, Session& session) {
  const bool same = first.path == second.path;
  const std::string place = session.sources().place(first.span);
  session.diagnostics().add(
      {Severity::error,
       same ? fmt::format("{} is given twice", backquoted(second.path))
            : fmt::format("{} replaces {}", backquoted(second.path), backquoted(first.path)),
       second.span,
       same ? "the second time" : "",
       "leave one of them out",
       {fmt::format("{} is {}", same ? "the first" : backquoted(first.path), place)}});
}

}  // namespace

void report_repeated_keys(const std::vector<WrittenKey>& keys, Session& session) {
  for (std::size_t second = 1; second < keys.size(); ++second) {
    const std::string& path = keys[second].path;
    const std::string below = path + ".";
    for (std::size_t first = 0; first < second; ++first) {
      if (keys[first].path == path || keys[first].path.starts_with(below)) {
        // Options are applied before --set, wherever they stand.
        const bool in_order =
            keys[first].path != path || keys[first].span.source < keys[second].span.source;
        report_pair(keys[in_order ? first : second], keys[in_order ? second : first], session);
        break;
      }
    }
  }
}

}  // namespace payoff
