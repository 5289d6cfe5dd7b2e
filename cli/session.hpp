// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
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
  // Pictures of characters.
  [[nodiscard]] const TypedForm& pictures() const { return console_.pictures; }
  [[nodiscard]] const std::string& command_line() const { return command_line_; }
  // What runs: "predict".
  void set_command(std::string_view name) { command_ = name; }
  [[nodiscard]] const std::string& command() const { return command_; }
  // What is read and is no text of sources(): a file, or a folder with all that is in it.
  void reads(std::filesystem::path input) { inputs_.push_back(std::move(input)); }
  [[nodiscard]] const std::vector<std::filesystem::path>& inputs() const { return inputs_; }
  void set_error_format(ErrorFormat format) { format_ = format; }

  // Said at once, before something that takes long; nothing where a program reads the errors.
  void note(const std::string& text);
  // How far long work is: one line that takes the place of the one before it, on a terminal only.
  // An empty one leaves nothing there.
  void progress(const std::string& text);
  // A file that the world does not give: told after the mistakes of what was given, by report().
  void cannot_read(std::string what);
  // Errors found from now on came up while it ran.
  void started() { outcome_ = "stopped, and nothing was written"; }
  // Errors found from now on are told in results that were written.
  void wrote_results() { outcome_ = "the results were written"; }
  // Prints everything that was found: `bad_input` when there are errors, else `failure` where a
  // file could not be read.
  [[nodiscard]] ExitCode report();
  // The same when the world failed (a file that cannot be read): `failure`.
  [[nodiscard]] ExitCode report_failure(const std::string& what);

 private:
  Console& console_;
  std::string command_line_;
  std::string command_;
  SourceMap sources_;
  Diagnostics diagnostics_;
  std::vector<std::filesystem::path> inputs_;
  std::vector<std::string> unreadable_;
  ErrorFormat format_{ErrorFormat::text};
  std::string_view outcome_ = "nothing was run";
};

}  // namespace payoff
