// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "profiles/diagnostics.hpp"
#include "profiles/library.hpp"
#include "profiles/read_hardware.hpp"

// All profiles of a kind that the program came with, for what is fitted to published measurements
// or compared with them.

namespace payoff {

// By name; `read` is the reader of one. What cannot be read is reported to the context.
template <class T, class Read>
[[nodiscard]] std::map<std::string, T> read_shipped(ProfileKind kind, const ReadContext& context,
                                                    Read read) {
  std::map<std::string, T> all;
  for (const std::string& name : context.library.names(kind)) {
    if (auto profile = read(name, std::nullopt, context)) {
      all.emplace(name, std::move(profile->value));
    }
  }
  return all;
}

// In the order of their names.
template <class T>
[[nodiscard]] std::vector<T> all_values(const std::map<std::string, T>& by_name) {
  std::vector<T> values;
  values.reserve(by_name.size());
  for (const auto& [name, value] : by_name) {
    values.push_back(value);
  }
  return values;
}

// Throws std::runtime_error with the diagnostics where there was an error.
inline void throw_if_unreadable(const Diagnostics& diagnostics, const SourceMap& sources) {
  if (diagnostics.error_count() > 0) {
    throw std::runtime_error("a shipped profile cannot be read:\n" +
                             render_text(diagnostics, sources));
  }
}

}  // namespace payoff
