// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/cli/capture.hpp"

// What tests of `payoff collective --level steps` write, and the row that it answers with.

namespace payoff::test {

inline std::vector<std::string> collective(const std::string& operation,
                                           const std::vector<std::string>& more) {
  std::vector<std::string> words{"collective", operation, "--level", "steps", "--sizes", "256MiB"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

inline nlohmann::json steps_of(const std::string& operation, const std::vector<std::string>& more) {
  return json_of(collective(operation, more))["rows"][0];
}

inline std::string example(const std::string& name) {
  return (std::filesystem::path(PAYOFF_SOURCE_DIR) / "examples" / "topologies" / name).string();
}

}  // namespace payoff::test
