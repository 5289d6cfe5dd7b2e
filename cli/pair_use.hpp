// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/experiment.hpp"
#include "model/hardware.hpp"

// What shares a GPU in a step beside the pairs that its law was fitted to (PairLaw::beside). A kind
// of pair that was not measured has a prior, which is `assumed` and no extrapolation.

namespace payoff {

struct PairUse {
  std::string plan;
  std::string pair;  // "codec beside message"
  bool of_units{};   // else of the memory bandwidth
  FitRange<double> used;
  FitRange<double> measured;

  [[nodiscard]] bool extrapolated() const { return !measured.covers(used); }
};

// Of measured kinds those that the plan of a strategy has.
[[nodiscard]] std::vector<PairUse> pairs_of_plan(const StepPlan& plan, const std::string& label);

// "codec beside message of fp8: 24 % of the units are held; measured on this GPU: 3 % to 12 %".
[[nodiscard]] std::string sentence(const PairUse& use);
[[nodiscard]] nlohmann::ordered_json to_json(const PairUse& use);

}  // namespace payoff
