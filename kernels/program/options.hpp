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

// "; did you mean `casts`?" where one of the words is like this one, else nothing.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> known);

[[nodiscard]] Options read_options(std::span<const char* const> words);
[[nodiscard]] std::string_view help_text();

}  // namespace payoff::kernels
