// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/priced_uses.hpp"
#include "cli/session.hpp"
#include "cli/sweep_job.hpp"
#include "study/survey.hpp"

// The answer of `payoff survey`: how many setups pay and why the others do not, by strategy and by
// the values of every axis; the same as versioned JSON, and every setup as CSV.

namespace payoff {

// One strategy of one job.
struct Setup {
  std::uint64_t job{};
  std::vector<std::size_t> values;  // of every axis
  SurveyedPlan plan;
  std::string impossible;  // why there is no such job; then the plan has a label only
  ExtrapolatedKinds extrapolated{};
};

struct SurveyReport {
  const SweepQuestion& question;
  const ReadExperiment& first;  // a job that can be read
  const Library& library;
  const SurveyOptions& options;
  std::vector<Setup> setups;  // in the order of the jobs

  using Which = std::function<bool(const Setup&)>;
  // Of those that can be.
  [[nodiscard]] std::size_t count(const Which& which) const;
  [[nodiscard]] std::size_t possible() const;
  [[nodiscard]] std::size_t found(SurveyFinding finding) const;
  [[nodiscard]] std::size_t pay_over_job() const;
};

[[nodiscard]] std::string survey_text(const SurveyReport& report);
[[nodiscard]] std::string survey_json(const SurveyReport& report, const Session& session);
[[nodiscard]] std::string survey_csv(const SurveyReport& report);

// "6 of 216 setups pay over ...": the last line.
[[nodiscard]] std::string survey_sentence(const SurveyReport& report);

}  // namespace payoff
