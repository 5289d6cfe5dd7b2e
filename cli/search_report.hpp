// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/priced_uses.hpp"
#include "cli/session.hpp"
#include "profiles/library.hpp"
#include "profiles/read_experiment.hpp"
#include "study/search_answer.hpp"

// The answer of `payoff search`: how many candidates became of what, the job as given, the best
// uncompressed and the best compressed candidates, and whether compression pays, as the last line.

namespace payoff {

struct SearchReport {
  const ReadExperiment& read;
  const Library& library;
  const SearchAnswer& answer;
  const SearchAnswerOptions& options;

  // In the layout and with the plan of a candidate.
  [[nodiscard]] PricedUses uses(const Finalist& finalist) const;
};

[[nodiscard]] std::string search_text(const SearchReport& report);
[[nodiscard]] std::string search_json(const SearchReport& report, const Session& session);

}  // namespace payoff
