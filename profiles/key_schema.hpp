// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "profiles/key_record.hpp"

// The keys of a kind of document as a JSON Schema, draft 7, for editors (a line `#
// yaml-language-server: $schema=...` in a file) and validators. It says what a reader says of keys,
// kinds of values, names, units and ranges; what holds between values (7 GPUs in groups of 2) is
// for `payoff check` alone. Numbers are held to YAML's own types, where the reader also takes
// "4" in quotes.

namespace payoff {

// What is known in words about the key at a path, "layout.tp"; may be empty.
using KeyHelp = std::function<std::string(std::string_view path)>;

[[nodiscard]] std::string json_schema(std::string_view kind, const KeyRecord& keys,
                                      const KeyHelp& help);

}  // namespace payoff
