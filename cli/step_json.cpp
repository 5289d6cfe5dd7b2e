// SPDX-License-Identifier: Apache-2.0
#include "cli/step_json.hpp"

#include <utility>

#include <nlohmann/json.hpp>

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

Json waterfall_json(const Waterfall& w) {
  Json json{{"forward_seconds", w.forward.si},
            {"recompute_seconds", w.recompute.si},
            {"backward_seconds", w.backward.si},
            {"interference_seconds", w.interference.si},
            {"encode_seconds", w.encode.si},
            {"decode_seconds", w.decode.si},
            {"bucket_copy_seconds", w.bucket_copy.si},
            {"exposed_tp_seconds", w.exposed_tp.si},
            {"exposed_cp_seconds", w.exposed_cp.si},
            {"exposed_ep_seconds", w.exposed_ep.si},
            {"exposed_pp_seconds", w.exposed_pp.si},
            {"exposed_dp_seconds", w.exposed_dp.si},
            {"bubble_seconds", w.bubble.si},
            {"optimizer_seconds", w.optimizer.si},
            {"host_seconds", w.host.si}};
  // Where the job states any.
  for (const auto& [key, time] : {std::pair("host_jitter_seconds", w.host_jitter),
                                  std::pair("data_stall_seconds", w.data_stall),
                                  std::pair("checkpoint_seconds", w.checkpoint)}) {
    if (time > 0_s) {
      json[key] = time.si;
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
