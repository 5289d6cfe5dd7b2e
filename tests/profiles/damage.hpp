// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <string>

namespace payoff::test {

// One to four random edits: bytes lost, changed and repeated, and pieces that mean something in
// YAML or JSON put in. The same on every machine for the same state of `random`.
[[nodiscard]] std::string damaged(std::string text, std::mt19937_64& random);

}  // namespace payoff::test
