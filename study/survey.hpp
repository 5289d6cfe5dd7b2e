// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "study/payoff.hpp"

// Of many setups, how many pay, and why the others do not: the question of Agarwal et al. (MLSys
// 2022: "only in 6 cases out of more than 200"). The reason is found by asking again for the same
// job with one thing taken away, by the most likely parameters, until it would pay.

namespace payoff {

enum class SurveyFinding {
  pays,              // over the best uncompressed remedy
  too_close,         // to call
  remedy_is_enough,  // it pays over the job as given, but what needs no compression gains as much
  nothing_exposed,  // not even a step without gradients would pay: communication hides, or is small
  codec,            // it would with a free codec, or does not even with free messages
  cannot_be_summed,  // it would if its payload were all-reduced instead of gathered
  latency,           // it does not even with messages of almost no bytes
  too_little_saved,  // of the bytes
  does_not_fit
};
inline constexpr std::array all_findings{SurveyFinding::pays,
                                         SurveyFinding::too_close,
                                         SurveyFinding::remedy_is_enough,
                                         SurveyFinding::nothing_exposed,
                                         SurveyFinding::codec,
                                         SurveyFinding::cannot_be_summed,
                                         SurveyFinding::latency,
                                         SurveyFinding::too_little_saved,
                                         SurveyFinding::does_not_fit};
[[nodiscard]] std::string_view name(SurveyFinding finding);

struct SurveyedPlan {
  std::string label;
  SurveyFinding finding{};
  bool pays_over_job{};  // as given
  Seconds step{};
  double speedup{};  // over the job as given, by the most likely parameters
  double speedup_against_remedy{};
  double probability{};  // that it pays over the remedy
};

struct SurveyOptions {
  RemedyLimits limits;
  double band{noise_band};
  std::size_t draws{64};  // for many verdicts, not for the quantiles of one
  std::uint64_t seed{1};
};

// Every plan of the experiment that compresses. Requires check() empty. Same inputs, same answer.
[[nodiscard]] std::vector<SurveyedPlan> survey(const Experiment& experiment,
                                               const SurveyOptions& options = {});

}  // namespace payoff
