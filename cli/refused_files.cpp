// SPDX-License-Identifier: Apache-2.0
#include "cli/refused_files.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace payoff {

RefusedFiles::RefusedFiles(std::vector<std::string> problems, std::vector<std::string> unreadable)
    : std::runtime_error(
          fmt::format("{}", fmt::join(problems.empty() ? unreadable : problems, "\nerror: "))),
      problems_(std::move(problems)),
      unreadable_(std::move(unreadable)) {}

void report_refused(const RefusedFiles& refused, std::span<const Argument> files,
                    Session& session) {
  for (const std::string& problem : refused.problems()) {
    const auto guilty = std::find_if(files.begin(), files.end(), [&problem](const Argument& file) {
      return problem.starts_with(file.text + ":");
    });
    session.diagnostics().error(guilty == files.end() ? files.front().span : guilty->span, problem,
                                {}, files.size() == 1 ? "" : "files of one sweep are its shards");
  }
  for (const std::string& what : refused.unreadable()) {
    session.cannot_read(what);
  }
}

}  // namespace payoff
