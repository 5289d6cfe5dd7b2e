// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

// What differs between two results of one command line: value by value, by its path.

namespace payoff {

struct ValueDifference {
  std::string path;             // "plans.1.step_seconds"
  nlohmann::ordered_json then;  // discarded where it is not there
  nlohmann::ordered_json now;

  // Of two numbers by how much, relative to the larger; of anything else without end.
  [[nodiscard]] double size() const;
};

struct ResultDifferences {
  std::size_t values{};                // that both have, or one of them
  std::vector<ValueDifference> found;  // the largest first
};

// The keys of `aside` are left out, at the top.
[[nodiscard]] ResultDifferences differences_of(const nlohmann::ordered_json& then,
                                               const nlohmann::ordered_json& now,
                                               const std::vector<std::string>& aside);

}  // namespace payoff
