// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/source_map.hpp"

// What is wrong with an input, collected and printed all at once: message, place with a caret,
// help. Text for people in the form of compilers, JSON for editors and scripts.

namespace payoff {

enum class Severity { error, warning };

struct Diagnostic {
  Severity severity = Severity::error;
  std::string message;       // one line, no full stop
  std::optional<Span> span;  // none when it concerns no place in particular
  std::string label;         // beside the caret; may be empty
  std::string help;          // what to do about it; may be empty
  std::vector<std::string> notes;
};

class Diagnostics {
 public:
  void add(Diagnostic diagnostic);
  void error(std::optional<Span> span, std::string message, std::string label = {},
             std::string help = {});
  void warning(std::optional<Span> span, std::string message, std::string label = {},
               std::string help = {});

  [[nodiscard]] bool has_errors() const { return error_count() > 0; }
  [[nodiscard]] std::size_t error_count() const { return count(Severity::error); }
  [[nodiscard]] std::size_t count(Severity severity) const {
    return severity == Severity::error ? errors_ : warnings_;
  }
  [[nodiscard]] bool empty() const { return all_.empty(); }

  // In the order of the sources and of the places in them; what has no place comes last.
  [[nodiscard]] std::vector<Diagnostic> sorted() const;

 private:
  // A file of another kind can be wrong in every line: beyond this, errors and warnings are only
  // counted.
  static constexpr std::size_t most_kept_ = 1000;

  std::vector<Diagnostic> all_;  // without repetitions
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
};

struct RenderOptions {
  std::size_t width = 120;  // of the terminal; longer source lines are cut around the caret
  bool color = false;
  std::string_view outcome = "nothing was run";
};

// The diagnostics and, after errors, the line "4 errors; nothing was run", or another outcome.
[[nodiscard]] std::string render_text(const Diagnostics& diagnostics, const SourceMap& sources,
                                      const RenderOptions& options = {});

// {"schema": 1, "errors": [...], "warnings": [...]}, columns and lengths in characters.
[[nodiscard]] std::string render_json(const Diagnostics& diagnostics, const SourceMap& sources);

// The user's text between backquotes, without control characters and not longer than a line.
[[nodiscard]] std::string backquoted(std::string_view text);

}  // namespace payoff
