// SPDX-License-Identifier: Apache-2.0
#include "cli/step_json.hpp"

#include <string>

#include <nlohmann/json.hpp>

#include "study/difference.hpp"

namespace payoff {
namespace {

using Json = nlohmann::ordered_json;

Json memory_json(const Memory& m) {
  return {{"parameters_bytes", m.parameters.si}, {"gradients_bytes", m.gradients.si},
          {"optimizer_bytes", m.optimizer.si},   {"activations_bytes", m.activations.si},
          {"buckets_bytes", m.buckets.si},       {"codec_state_bytes", m.codec_state.si},
          {"margin_bytes", m.margin().si},       {"total_bytes", m.total().si},
          {"capacity_bytes", m.capacity.si},     {"fits", m.fits()}};
}

}  // namespace

Json waterfall_json(const Waterfall& waterfall) {
  Json json = Json::object();
  for (const auto& [name, time] : step_terms) {
    if (waterfall.*time > 0_s || !stands_where_stated(name)) {
      json[std::string(name) + "_seconds"] = (waterfall.*time).si;
    }
  }
  return json;
}

Json step_json(const StepPrediction& p) {
  return {{"step_seconds", p.step.si},
          {"waterfall", waterfall_json(p.waterfall)},
          {"dp_communication_seconds", p.dp_communication.si},
          {"hidden_dp_seconds", p.hidden_dp.si},
          {"dp_bytes", p.dp_bytes.si},
          {"tp_bytes", p.tp_bytes.si},
          {"cp_bytes", p.cp_bytes.si},
          {"ep_bytes", p.ep_bytes.si},
          {"pp_bytes", p.pp_bytes.si},
          {"memory", memory_json(p.memory)}};
}

nlohmann::ordered_json comparison_json(const Comparison& comparison) {
  return {{"speedup", comparison.speedup},
          {"speedup_low", comparison.speedup_low},
          {"speedup_high", comparison.speedup_high},
          {"probability", comparison.probability},
          {"probability_no_difference", comparison.probability_equal},
          {"verdict", name(comparison.verdict())},
          {"convergence_slack_ratio", comparison.convergence_slack_ratio()}};
}

}  // namespace payoff
