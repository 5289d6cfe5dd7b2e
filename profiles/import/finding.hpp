// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

// What the import of measurements has to say about an entry of a file: an entry that contradicts
// itself or lacks what every entry needs is left out (`rejected`), a doubt about one that is kept
// is `noted`. Importers return findings and never throw because of what a file contains.

namespace payoff {

enum class Effect { rejected, noted };

struct Finding {
  std::string file;
  int line{};         // from 1; 0: the file as a whole
  int column{};       // from 1
  std::string entry;  // id of the table or row, with the row where one is meant
  std::string message;
  Effect effect{Effect::rejected};
  std::string help{};  // what to do about it; may be empty
};

using Findings = std::vector<Finding>;

// "file:line:column: entry: message"
[[nodiscard]] std::string to_text(const Finding& finding);

// Throws std::runtime_error with all of them, below `what` is wrong.
void throw_if_any(const Findings& findings, const std::string& what);

}  // namespace payoff
