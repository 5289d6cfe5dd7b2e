// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/session.hpp"

// Files of results that a command was given and that are not what it takes: a mistake of its
// user's. A file that cannot be read is none; what throws for it throws std::runtime_error.

namespace payoff {

class RefusedFiles : public std::runtime_error {
 public:
  explicit RefusedFiles(std::vector<std::string> problems,
                        std::vector<std::string> unreadable = {});
  // One for each file or line; what is wrong with a file begins with its name and `:`.
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }
  // What could not be read beside them.
  [[nodiscard]] const std::vector<std::string>& unreadable() const { return unreadable_; }

 private:
  std::vector<std::string> problems_;
  std::vector<std::string> unreadable_;
};

// Each under the argument that names its file, else under the first one. `files` has one at least.
void report_refused(const RefusedFiles& refused, std::span<const Argument> files, Session& session);

}  // namespace payoff
