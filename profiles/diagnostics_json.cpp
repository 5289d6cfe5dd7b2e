// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "profiles/diagnostics.hpp"

namespace payoff {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson to_json(const Diagnostic& diagnostic, const SourceMap& sources) {
  OrderedJson result;
  result["severity"] = diagnostic.severity == Severity::error ? "error" : "warning";
  result["message"] = diagnostic.message;
  if (diagnostic.span) {
    const Location location = sources.locate(*diagnostic.span);
    const Source& source = sources[diagnostic.span->source];
    if (source.argument) {
      result["argument"] = *source.argument;
      result["text"] = source.text;
    } else {
      result["file"] = location.name;
    }
    result["line"] = location.line;
    result["column"] = location.column;
    result["length"] = location.length;
  }
  const auto add_text = [&](const char* key, const std::string& text) {
    if (!text.empty()) {
      result[key] = text;
    }
  };
  add_text("label", diagnostic.label);
  add_text("help", diagnostic.help);
  if (!diagnostic.notes.empty()) {
    result["notes"] = diagnostic.notes;
  }
  return result;
}

}  // namespace

std::string render_json(const Diagnostics& diagnostics, const SourceMap& sources) {
  OrderedJson result;
  result["schema"] = 1;
  result["errors"] = OrderedJson::array();
  result["warnings"] = OrderedJson::array();
  for (const Diagnostic& diagnostic : diagnostics.sorted()) {
    const char* list = diagnostic.severity == Severity::error ? "errors" : "warnings";
    result[list].push_back(to_json(diagnostic, sources));
  }
  // Bytes that are not UTF-8 can come in through arguments; they must not end the program.
  return result.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace payoff
