// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/profile_text.hpp"
#include "profiles/read_method.hpp"

// A compression method as `payoff methods` shows it: its formulas as written, what they come to for
// one matrix, its class, sources, implementations and what it composes with.

namespace payoff {

struct MethodText {
  std::string name;
  std::string description;
  std::string implementation;  // class
  std::vector<std::string> collectives;
  double wire_ratio{};    // bytes as implemented over 4 bytes an element, of 1536 x 768 elements
  bool after_backward{};  // what it sends waits for all of backward
  MethodNotes notes;
  std::vector<std::pair<std::string, std::string>> composes;
  std::vector<std::pair<std::string, std::string>> formulas;  // path and text, as in the file
  std::vector<Citation> citations;
};

[[nodiscard]] MethodText method_text(std::string_view name, const MethodProfile& read,
                                     const ReadContext& context);

[[nodiscard]] std::string shown_text(const MethodText& method);
[[nodiscard]] nlohmann::ordered_json shown_json(const MethodText& method);

}  // namespace payoff
