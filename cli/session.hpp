// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/console.hpp"
#include "cli/exit_code.hpp"
#include "profiles/diagnostics.hpp"
#include "profiles/source_map.hpp"

// One run of the program: where it prints, what it was given, and what is wrong with that.

namespace payoff {

enum class ErrorFormat { text, json };

class Session {
 public:
  Session(Console& console, std::string command_line)
      : console_(console), command_line_(std::move(command_line)) {}

  [[nodiscard]] SourceMap& sources() { return sources_; }
  [[nodiscard]] const SourceMap& sources() const { return sources_; }
  [[nodiscard]] Diagnostics& diagnostics() { return diagnostics_; }
  [[nodiscard]] std::ostream& out() { return console_.out; }
  [[nodiscard]] std::ostream& err() { return console_.err; }
  [[nodiscard]] const std::string& command_line() const { return command_line_; }
  // What is read and is no text of sources(): a file, or a folder with all that is in it.
  void reads(std::filesystem::path input) { inputs_.push_back(std::move(input)); }
  [[nodiscard]] const std::vector<std::filesystem::path>& inputs() const { return inputs_; }
  void set_error_format(ErrorFormat format) { format_ = format; }

  // Prints everything that was found: `bad_input` when there are errors.
  [[nodiscard]] ExitCode report();
  // The same when the world failed (a file that cannot be read): `failure`.
  [[nodiscard]] ExitCode report_failure(const std::string& what);

 private:
  Console& console_;
  std::string command_line_;
  SourceMap sources_;
  Diagnostics diagnostics_;
  std::vector<std::filesystem::path> inputs_;
  ErrorFormat format_{ErrorFormat::text};
};

}  // namespace payoff
