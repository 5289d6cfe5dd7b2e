// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace payoff::fuzz {

struct LargeInput {
  std::string name;
  std::string text;
};

// Inputs of 1 MiB that are one thing over and over: what is nested, repeated or never closed, and
// what makes a reader look at everything before it once more. Too large to be kept as files.
[[nodiscard]] std::vector<LargeInput> large_inputs();

}  // namespace payoff::fuzz
