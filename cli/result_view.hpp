// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "cli/plot_view.hpp"
#include "cli/result_question.hpp"
#include "cli/session.hpp"
#include "cli/sweep_results.hpp"

// The pictures of the results of a sweep; nullopt where they do not make one, which is reported.

namespace payoff {

// One column against another, a curve for each value of the columns that tell curves apart.
[[nodiscard]] std::optional<PlotView> view_result_curves(const SweepResults& results,
                                                         const ResultQuestion& question,
                                                         Session& session);
// The speedup of one strategy over two columns, with the lines on which it breaks even.
[[nodiscard]] std::optional<PlotView> view_result_map(const SweepResults& results,
                                                      const ResultQuestion& question,
                                                      Session& session);

// What is said below the title of both: what all results that are drawn have in common, and what
// is not drawn.
[[nodiscard]] std::vector<std::string> result_captions(const SweepResults& results,
                                                       const ResultQuestion& question);

}  // namespace payoff
