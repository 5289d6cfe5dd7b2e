// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "profiles/diagnostics.hpp"
#include "profiles/source_map.hpp"

// A JSON object of someone else's (a Hugging Face config.json), asked for single values. What is
// missing or of the wrong type is reported at its key, and reads as its fallback; keys that nobody
// asks for are not ours to judge.

namespace payoff {

class JsonObject {
 public:
  // Nothing, after an error at its place, when the text is no JSON object.
  [[nodiscard]] static std::optional<JsonObject> parse(Span text, const SourceMap& sources,
                                                       Diagnostics& diagnostics);
  JsonObject(JsonObject&&) noexcept;
  ~JsonObject();

  // Absent or null.
  [[nodiscard]] bool lacks(std::string_view key) const;
  // A whole number from 0 to `largest`; without a fallback the key must be there.
  [[nodiscard]] std::int64_t count(std::string_view key, std::int64_t largest,
                                   std::optional<std::int64_t> fallback = std::nullopt) const;
  [[nodiscard]] bool flag(std::string_view key, bool fallback) const;
  [[nodiscard]] std::string text(std::string_view key) const;        // "" when absent
  [[nodiscard]] std::string first_text(std::string_view key) const;  // of a list; "" when empty
  [[nodiscard]] std::size_t entries(std::string_view key) const;     // of an object or list

  // Reports at the key, or at the beginning when it is absent.
  void error(std::string_view key, const std::string& message, const std::string& label = {},
             const std::string& help = {}) const;
  void warning(std::string_view key, const std::string& message) const;

 private:
  struct Content;
  JsonObject(std::unique_ptr<Content> content, Span text, const SourceMap& sources,
             Diagnostics& diagnostics);

  [[nodiscard]] Span place(std::string_view key) const;

  std::unique_ptr<Content> content_;
  Span text_;
  const SourceMap* sources_;
  Diagnostics* diagnostics_;
};

}  // namespace payoff
