// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/session.hpp"
#include "profiles/import/finding.hpp"
#include "study/validate.hpp"

// What `payoff validate` prints: the judge half first, because nothing was fitted to it, then the
// fit half, marked as such; other predictors on the same cases; every reason why a case has no
// prediction, counted; the worst cases with the part of the step that is suspect. The same as JSON,
// and one line a case as CSV.

namespace payoff {

struct ValidationReport {
  std::vector<ValidationCase> cases;
  GroupBy by{GroupBy::source};
  std::size_t worst{};  // how many of the worst cases of a kind are told
  bool only_worst{};    // with all that is known of them, instead of the tables
  std::string split_sha256;
  Findings rejected;  // entries of the files that contradict themselves
};

[[nodiscard]] std::string validation_text(const ValidationReport& report);
[[nodiscard]] std::string validation_json(const ValidationReport& report, const Session& session);
[[nodiscard]] std::string validation_csv(const ValidationReport& report);

}  // namespace payoff
