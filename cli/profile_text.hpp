// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "profiles/fact.hpp"
#include "profiles/library.hpp"
#include "profiles/read_hardware.hpp"

// A profile as it is shown: every value that was written, the fitted ones that were joined to it,
// and the sources they come from, each named once.

namespace payoff {

struct Citation {
  std::string text;
  std::string date;
  std::string url;
  bool operator==(const Citation&) const = default;
};

struct ProfileNumber {
  std::string path;
  std::string value;
  std::string relative_sd;  // "2 %"; empty when not stated
  std::string provenance;   // empty for what is no number (an architecture, a reference)
  std::size_t citation{};   // from 1; 0: none
};

struct ProfileText {
  ProfileKind kind{};
  std::string name;
  std::string description;
  std::vector<ProfileNumber> numbers;
  std::vector<Citation> citations;
};

[[nodiscard]] std::string profile_description(ProfileKind kind, std::string_view name,
                                              const ReadContext& context);
[[nodiscard]] ProfileText profile_text(ProfileKind kind, std::string_view name,
                                       const ReadContext& context);

[[nodiscard]] std::string citations_text(const std::vector<Citation>& citations);

[[nodiscard]] nlohmann::ordered_json citations_json(const std::vector<Citation>& citations);

// The place of a citation in the list, from 1; appended when it is new, 0 for none.
[[nodiscard]] std::size_t cite(const Fact& fact, std::vector<Citation>& citations);

}  // namespace payoff
