// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "profiles/section.hpp"

// A text read as a document, with everything that reading it needs and leaves behind.

namespace payoff::test {

struct Reading {
  explicit Reading(std::string text) {
    document = load_yaml_text("f.yaml", std::move(text), sources, diagnostics);
    if (document) {
      reader.emplace(document->root, sources, diagnostics);
    }
  }

  Section root() { return reader ? reader->root() : Section{}; }

  // Ends the reading; one line an error: "line:column message | label | help".
  std::string errors() {
    if (reader) {
      reader->finish();
    }
    return lines();
  }

  [[nodiscard]] std::string lines() const {
    std::string result;
    for (const Diagnostic& diagnostic : diagnostics.sorted()) {
      const Span span = diagnostic.span.value_or(Span{});
      const Location location = sources.locate(span);
      result += (sources.is_argument(span) ? location.name + ":" : "") +
                std::to_string(location.line) + ":" + std::to_string(location.column) + " " +
                diagnostic.message;
      for (const std::string& text : {diagnostic.label, diagnostic.help}) {
        result += text.empty() ? "" : " | " + text;
      }
      for (const std::string& note : diagnostic.notes) {
        result += " | " + note;
      }
      result += "\n";
    }
    return result;
  }

  SourceMap sources;
  Diagnostics diagnostics;
  std::optional<Document> document;
  std::optional<Reader> reader;
};

}  // namespace payoff::test
