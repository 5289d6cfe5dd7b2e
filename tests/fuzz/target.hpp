// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "profiles/library.hpp"
#include "profiles/read_hardware.hpp"

// What is fuzzed: functions that read an input of any bytes. Each takes the bytes and tells what it
// made of them; an input that breaks a law ends the program (broken()), as a crash does. The same
// targets are driven by libFuzzer (libfuzzer.cpp) and by the tests, over the corpus (replay.cpp).

namespace payoff::fuzz {

using Read = std::string (*)(std::string_view input);

struct Target {
  std::string_view name;
  std::string_view what;
  Read read;
};

// One a file of this folder; the list is in targets.cpp.
[[nodiscard]] std::span<const Target> all_targets();
[[nodiscard]] const Target* find_target(std::string_view name);

// A law does not hold: says which, and aborts.
[[noreturn]] void broken(std::string_view law);

// One reading of an input by readers that report: shared by most targets.
class Reading {
 public:
  [[nodiscard]] SourceMap& sources() { return sources_; }
  [[nodiscard]] Diagnostics& diagnostics() { return diagnostics_; }
  [[nodiscard]] ReadContext context();
  // The whole of an input as a file, or as an argument of the command line.
  [[nodiscard]] Span file(std::string_view input);
  [[nodiscard]] Span argument(std::string_view input);

  // The laws of every reader: a value or errors, never both or none; every message says something,
  // and every place is in its source. Gives what is printed for a person.
  [[nodiscard]] std::string verdict(bool has_value) const;
  // The same where a reader may give a value beside errors.
  [[nodiscard]] std::string verdict() const;

 private:
  SourceMap sources_;
  Diagnostics diagnostics_;
};

// The profiles of the source tree.
[[nodiscard]] const Library& shipped();

// A file with these bytes, for what reads files only; the same path each time.
[[nodiscard]] std::string scratch_file(std::string_view name, std::string_view content);

}  // namespace payoff::fuzz
