// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/prediction_report.hpp"
#include "cli/table.hpp"

namespace payoff {
namespace {

// A last column, where any strategy has them.
bool has_overheads(const Payoff& payoff) {
  return std::any_of(payoff.plans.begin(), payoff.plans.end(), [](const PlanPayoff& plan) {
    return shares_of(plan.prediction.waterfall).overheads > 0_s;
  });
}

std::string csv_row(std::vector<std::string> cells, bool overheads, std::string cell) {
  if (overheads) {
    cells.push_back(std::move(cell));
  }
  return csv_line(cells);
}

std::string header_csv(const Payoff& payoff) {
  return csv_row({"engine",
                  "strategy",
                  "step_seconds",
                  "step_low_seconds",
                  "step_high_seconds",
                  "compute_seconds",
                  "codec_seconds",
                  "exposed_seconds",
                  "bubble_seconds",
                  "hidden_dp_seconds",
                  "dp_bytes",
                  "speedup",
                  "speedup_low",
                  "speedup_high",
                  "probability",
                  "speedup_against_sixteen_bit",
                  "speedup_against_remedy",
                  "memory_bytes",
                  "fits",
                  "verdict"},
                 has_overheads(payoff), "overheads_seconds");
}

std::string plan_csv(const PlanPayoff& plan, const Payoff& payoff) {
  const Shares shares = shares_of(plan.prediction.waterfall);
  const bool compresses = &plan != &payoff.plans.front();
  const auto n = [](double number) { return exact_number(number); };
  return csv_row({std::string(name(Engine::analytical)),
                  plan.label,
                  n(plan.prediction.step.si),
                  n(plan.step_low.si),
                  n(plan.step_high.si),
                  n(shares.compute.si),
                  n(shares.codec.si),
                  n(shares.exposed.si),
                  n(shares.bubble.si),
                  n(plan.prediction.hidden_dp.si),
                  n(plan.prediction.dp_bytes.si),
                  n(plan.against_uncompressed.speedup),
                  n(plan.against_uncompressed.speedup_low),
                  n(plan.against_uncompressed.speedup_high),
                  n(plan.against_uncompressed.probability),
                  plan.against_sixteen_bit ? n(plan.against_sixteen_bit->speedup) : "",
                  n(plan.against_remedy.speedup),
                  n(plan.prediction.memory.total().si),
                  plan.prediction.memory.fits() ? "true" : "false",
                  compresses ? std::string(name(Payoff::verdict_of(plan))) : std::string()},
                 has_overheads(payoff), n(shares.overheads.si));
}

// An engine that is no model of ours has no intervals.
std::string engine_csv(const EngineAnswers& engine, const Payoff& payoff) {
  std::string text;
  const auto n = [](double number) { return exact_number(number); };
  const auto& baseline = engine.plans.front().prediction;
  for (std::size_t i = 0; i < engine.plans.size(); ++i) {
    const auto& answer = engine.plans[i].prediction;
    if (!answer) {
      continue;  // the reason stands in the text and the JSON
    }
    const Shares shares = shares_of(answer->waterfall);
    text += csv_row({std::string(name(engine.engine)),
                     payoff.plans[i].label,
                     n(answer->step.si),
                     "",
                     "",
                     n(shares.compute.si),
                     n(shares.codec.si),
                     n(shares.exposed.si),
                     n(shares.bubble.si),
                     n(answer->hidden_dp.si),
                     n(answer->dp_bytes.si),
                     baseline ? n(baseline->step / answer->step) : "",
                     "",
                     "",
                     "",
                     "",
                     "",
                     n(payoff.plans[i].prediction.memory.total().si),
                     payoff.plans[i].prediction.memory.fits() ? "true" : "false",
                     ""},
                    has_overheads(payoff), n(shares.overheads.si));
  }
  return text;
}

}  // namespace

std::string prediction_csv(const PredictionReport& report) {
  std::string text = header_csv(report.payoff);
  for (const PlanPayoff& plan : report.payoff.plans) {
    text += plan_csv(plan, report.payoff);
  }
  for (const EngineAnswers& engine : report.engines) {
    text += engine_csv(engine, report.payoff);
  }
  return text;
}

}  // namespace payoff
