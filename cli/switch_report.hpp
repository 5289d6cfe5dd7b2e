// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cli/priced_uses.hpp"
#include "study/switch_cost.hpp"

// What `payoff switch` shows.

namespace payoff {

struct SwitchReport {
  const SwitchAnswer& answer;
  std::string a;  // "job.yaml, powersgd:rank=4"
  std::string b;
  Bytes feedback{};  // that a codec of A keeps on a GPU from step to step, and no checkpoint has
  int convert_nodes{1};
  PricedUses uses_a{};
  PricedUses uses_b{};
};

[[nodiscard]] std::string switch_text(const SwitchReport& report);
// The keys that only this result has; json_envelope() comes before.
void add_switch_json(const SwitchReport& report, nlohmann::ordered_json& json);

}  // namespace payoff
