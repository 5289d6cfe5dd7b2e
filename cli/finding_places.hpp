// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/session.hpp"
#include "profiles/import/finding.hpp"

// What importers found in files of measurements, as diagnostics with the guilty line and a caret.

namespace payoff {

// `severity` with the entry named and the part of the line that the finding is about: a list or a
// mapping whole, a value to its end. A file that is gone since, or a finding about a whole file,
// is told without a line.
void report_finding(const Finding& finding, Severity severity, const std::string& help,
                    Session& session);

}  // namespace payoff
