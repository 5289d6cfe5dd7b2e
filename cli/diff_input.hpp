// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/priced_uses.hpp"
#include "cli/session.hpp"
#include "profiles/library.hpp"
#include "profiles/read_experiment.hpp"
#include "study/difference.hpp"

// The two sides of `payoff diff`: an experiment file, or what `payoff predict --json` wrote.

namespace payoff {

inline constexpr OptionSpec diff_plan_option{"--plan", "LABEL", "the strategy of A; default: none",
                                             Takes::value};
inline constexpr OptionSpec against_option{
    "--against", "LABEL",
    "the strategy of B; default: that of A, or of one file the first that compresses",
    Takes::value};
inline constexpr OptionSpec with_option{"--with", "KEY=VALUE",
                                        "sets a key of B, which is A where no other file is named",
                                        Takes::values};

struct DiffSide {
  std::string file;  // as it was named
  ReadExperiment read;
  Side side;
  // Of a result: whose bytes are others now, and what it says of each strategy.
  std::vector<std::string> changed_profiles;
  std::map<std::string, Terms> recorded;

  [[nodiscard]] const CompressionPlan& plan() const;
  [[nodiscard]] PricedUses uses() const;
};

// Empty where something is wrong, which was reported.
struct DiffSides {
  DiffSide a;
  DiffSide b;
};
[[nodiscard]] std::optional<DiffSides> read_diff_sides(const Arguments& arguments,
                                                       const Library& library, Session& session);

}  // namespace payoff
