// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "profiles/diagnostics.hpp"

// What yaml-cpp does not tell about a text: how far its scalars reach, and bytes that it would
// misread. Private to parse_yaml.cpp.

namespace payoff::detail {

struct ScalarRange {
  std::size_t length = 1;
  bool closed = true;  // false for a quote without an end, which yaml-cpp accepts
};

// The range of the scalar with which `text` begins; `value` is what yaml-cpp made of it.
[[nodiscard]] ScalarRange scalar_range(std::string_view text, std::string_view value);

// yaml-cpp replaces invalid UTF-8 and takes byte 4 for the end of the file; both would move every
// later position or hide the rest of the text. Returns false when it reported such bytes.
[[nodiscard]] bool check_characters(Span region, std::string_view text, Diagnostics& diagnostics);

}  // namespace payoff::detail
