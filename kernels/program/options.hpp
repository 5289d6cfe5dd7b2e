// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

// The command line of payoff-kernels. It has no dependency beyond the CUDA toolkit, so it is read
// by hand.

namespace payoff::kernels {

enum class Action { measure, list, dry_run, check, help };

struct Options {
  Action action{Action::measure};
  bool full{};
  std::vector<std::string> only;  // kernels or families; empty: all
  std::string out;                // of measure: the samples file
  std::vector<std::string> problems;
};

[[nodiscard]] Options read_options(std::span<const char* const> words);
[[nodiscard]] std::string_view help_text();

}  // namespace payoff::kernels
