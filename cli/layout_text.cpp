// SPDX-License-Identifier: Apache-2.0
#include "cli/layout_text.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/rank_order.hpp"
#include "profiles/experiment_keys.hpp"
#include "profiles/read_layout.hpp"

namespace payoff {
namespace {

template <typename Names, typename T>
std::string_view name_in(const Names& names, T value) {
  const auto found = std::find_if(names.begin(), names.end(),
                                  [value](const auto& name) { return name.second == value; });
  return found == names.end() ? std::string_view{} : found->first;
}

}  // namespace

std::string layout_words(const ParallelLayout& layout) {
  std::string text = fmt::format("dp {}", layout.dp);
  text += layout.tp > 1 ? fmt::format(", tp {}", layout.tp) : "";
  text += layout.sequence_parallel ? " sp" : "";
  text += layout.tp_overlap > 1 ? fmt::format(" in {} pieces", layout.tp_overlap) : "";
  text += layout.cp > 1 ? fmt::format(", cp {}", layout.cp) : "";
  text += layout.ep > 1 ? fmt::format(", ep {}", layout.ep) : "";
  text += layout.etp > 1 ? fmt::format(", etp {}", layout.etp) : "";
  text += layout.pp > 1 ? fmt::format(", pp {}", layout.pp) : "";
  text += has_usual_order(layout) ? "" : fmt::format(" in the order {}", order_text(layout.order));
  text += layout.virtual_stages > 1 ? fmt::format(" x {} chunks", layout.virtual_stages) : "";
  text += layout.schedule != PipelineSchedule::one_f_one_b
              ? fmt::format(" {}", name_in(schedules, layout.schedule))
              : "";
  if (layout.pair_overlap != usual_pair_overlap(layout)) {
    text += layout.pair_overlap ? " with overlap of pairs" : " without overlap of pairs";
  }
  text += layout.zero > 0 ? fmt::format(", zero {}", layout.zero) : "";
  text += layout.shard > 0 ? fmt::format(" in groups of {}", layout.shard) : "";
  text += layout.reshard ? "" : " without reshard";
  text += fmt::format(", {} x {} samples", layout.micro_batches, layout.micro_batch);
  text += layout.recompute != Recompute::none
              ? fmt::format(", recompute {}", name_in(recomputes, layout.recompute))
              : "";
  return text;
}

std::string layout_options(const ParallelLayout& layout, const ParallelLayout& given) {
  std::string text = fmt::format("--dp {} --tp {} --pp {} --cp {} --ep {}", layout.dp, layout.tp,
                                 layout.pp, layout.cp, layout.ep);
  text += fmt::format(" --set layout.sequence_parallel={}", layout.sequence_parallel);
  text += fmt::format(" --schedule {}", name_in(schedules, layout.schedule));
  if (layout.expert_imbalance != given.expert_imbalance) {
    text += fmt::format(" --expert-imbalance {}", layout.expert_imbalance);
  }
  if (layout.order != given.order) {
    text += fmt::format(" --order {}", order_text(layout.order));
  }
  if (layout.etp != given.etp) {
    text += fmt::format(" --etp {}", layout.etp);
  }
  if (layout.tp_overlap != given.tp_overlap) {
    text += fmt::format(" --tp-overlap {}", layout.tp_overlap);
  }
  if (layout.reshard != given.reshard) {
    text += fmt::format(" --set layout.reshard={}", layout.reshard);
  }
  if (layout.pair_overlap != usual_pair_overlap(layout) ||
      layout.pair_overlap != given.pair_overlap) {
    text += fmt::format(" --set layout.pair_overlap={}", layout.pair_overlap);
  }
  if (layout.shard != given.shard) {
    text += fmt::format(" --shard-ranks {}", layout.shard);
  }
  if (layout.stage_layers.empty() && !given.stage_layers.empty()) {
    text += " --set 'layout.stage_layers=[]'";
  }
  text += fmt::format(" --virtual-stages {} --zero {} --micro-batch {} --micro-batches {}",
                      layout.virtual_stages, layout.zero, layout.micro_batch, layout.micro_batches);
  return text + fmt::format(" --recompute {}", name_in(recomputes, layout.recompute));
}

nlohmann::ordered_json layout_json(const ParallelLayout& layout) {
  return {{"dp", layout.dp},
          {"tp", layout.tp},
          {"pp", layout.pp},
          {"cp", layout.cp},
          {"ep", layout.ep},
          {"etp", layout.etp},
          {"sequence_parallel", layout.sequence_parallel},
          {"order", order_text(layout.order)},
          {"schedule", name_in(schedules, layout.schedule)},
          {"virtual_stages", layout.virtual_stages},
          {"pair_overlap", layout.pair_overlap},
          {"zero", layout.zero},
          {"shard", layout.shard},
          {"reshard", layout.reshard},
          {"tp_overlap", layout.tp_overlap},
          {"micro_batch", layout.micro_batch},
          {"micro_batches", layout.micro_batches},
          {"recompute", name_in(recomputes, layout.recompute)}};
}

}  // namespace payoff
