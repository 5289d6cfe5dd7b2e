// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "profiles/diagnostics.hpp"
#include "profiles/document.hpp"

// Typed values of a JSON tree, for readers of measurements (internal to the importers). What is
// wrong is reported at its place, with the record that it belongs to.

namespace payoff::import_detail {

class JsonValues {
 public:
  explicit JsonValues(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  // What later reports are about: "benchmark copy, state 3"; empty: nothing in particular.
  void set_record(std::string record) { record_ = std::move(record); }

  void wrong(Span span, const std::string& message, std::string label = {});
  void doubtful(Span span, const std::string& message, std::string label = {});

  // The value of a key of a mapping, of the kind that is wanted; null where it is absent.
  const Node* find(const Node& map, std::string_view key, Node::Kind kind, bool needed);
  std::string text(const Node& map, std::string_view key, bool needed = true);
  // The smallest one where it cannot be read or is beyond the limits.
  double number_of(const Node& node, std::string_view what, double smallest,
                   double largest = std::numeric_limits<double>::max());
  double number(const Node& map, std::string_view key, double smallest, bool needed = true);

  [[nodiscard]] Diagnostics& diagnostics() { return diagnostics_; }

 private:
  [[nodiscard]] std::string about(const std::string& message) const;

  Diagnostics& diagnostics_;
  std::string record_;
};

// Throws std::runtime_error where the file cannot be read or is larger than 256 MiB.
[[nodiscard]] std::string read_measurements(const std::filesystem::path& path);

}  // namespace payoff::import_detail
