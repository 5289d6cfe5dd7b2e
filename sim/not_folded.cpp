// SPDX-License-Identifier: Apache-2.0
#include "sim/not_folded.hpp"

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "model/rank_order.hpp"
#include "sim/background.hpp"

namespace payoff::sim {
namespace {

std::vector<std::string> what_tells_apart(const ClusterState& state, const ParallelLayout& layout) {
  std::vector<std::string> found;
  const auto note = [&](bool holds, const char* what) {
    if (holds) {
      found.emplace_back(what);
    }
  };
  note(state.jitter.sd > 0, "jitter");
  note(!state.slow_gpus.empty(), "slow GPUs");
  if (const auto& topology = state.topology) {
    note(topology->balance == Balance::hashed, "hashed routes");
    note(!topology->rank_order.empty() || !has_usual_order(layout),
         "ranks in an order of their own");
    note(!topology->faults.empty(), "failed or degraded links");
    note(differs_from_link_to_link(*topology), "loads that differ from link to link");
    note(std::holds_alternative<UserGraph>(topology->shape), "links of the user's own graph");
  }
  return found;
}

// As the end of a sentence; `otherwise` where nothing of the cluster does.
std::string told_apart_by(const ClusterState& state, const ParallelLayout& layout,
                          const char* otherwise) {
  const std::vector<std::string> found = what_tells_apart(state, layout);
  if (found.empty()) {
    return otherwise;
  }
  std::string text;
  for (std::size_t i = 0; i < found.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == found.size() ? " and " : ", ") + found[i];
  }
  return text + (found.size() == 1 && found.front() == "jitter" ? " tells them apart"
                                                                : " tell them apart");
}

}  // namespace

std::string why_not_folded(const ClusterState& state, const ParallelLayout& layout,
                           const PlatformRules& rules) {
  if (!rules.folds) {
    return "it was asked for";
  }
  if (layout.ranks() == layout.stages()) {
    return "every pipeline stage has one rank";
  }
  return told_apart_by(state, layout, "no two of a stage pass links alike on this topology");
}

std::string how_little_folds(const FoldReport& fold, const ClusterState& state,
                             const ParallelLayout& layout, const PlatformRules& rules) {
  const auto stages = static_cast<std::uint64_t>(layout.stages());
  if (fold.ranks <= stages || 2 * fold.places <= fold.ranks) {
    return {};
  }
  if (fold.places == fold.ranks) {
    return "ranks are not folded: " + why_not_folded(state, layout, rules);
  }
  return std::to_string(fold.ranks) + " ranks fold into " + std::to_string(fold.places) +
         " classes: " +
         told_apart_by(state, layout, "few of a stage pass links alike on this topology");
}

}  // namespace payoff::sim
