// SPDX-License-Identifier: Apache-2.0
#include "cli/speedup_notes.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "study/job_axis.hpp"
#include "study/scaled_job.hpp"

namespace payoff {
namespace {

std::string axis_end_text(int asked, int last, const std::string& why) {
  return fmt::format("The axis ends before {}: no such job has more than {} GPUs{}.", asked, last,
                     why.empty() ? "" : ": " + why);
}

}  // namespace

void note_single_replica(const Curves<int>& curves, Chart& chart) {
  if (curves.plans.size() < 2 || curves.plans.front().points.empty()) {
    return;
  }
  int most = 0;
  for (const CurvePoint<int>& point : curves.plans.front().points) {
    const bool compressed =
        std::any_of(curves.plans.begin() + 1, curves.plans.end(), [&](const Curve<int>& curve) {
          return !curve.points.empty() && curve.points.front().x <= point.x;
        });
    most = compressed ? most : point.x;
  }
  if (most > 0) {
    chart.notes.push_back(
        fmt::format("Nothing to compress at {} GPUs: one replica sends no gradients.", most));
  }
}

void note_ends(const Curves<int>& curves, int asked, Chart& chart) {
  std::map<int, std::string> strategies;
  const std::optional<int> job = curves.plans.front().end;
  for (std::size_t i = 1; i < curves.plans.size(); ++i) {
    const Curve<int>& curve = curves.plans[i];
    if (curve.end && curve.end != job) {
      std::string& names = strategies[*curve.end];
      names += (names.empty() ? "" : ", ") + curve.label;
    }
  }
  for (const auto& [gpus, names] : strategies) {
    chart.notes.push_back(fmt::format("Not possible on more than {} GPUs: {}.", gpus, names));
  }
  if (job) {
    chart.notes.push_back(axis_end_text(asked, *job, curves.why_it_ends));
  }
}

std::string gpus_end_note(const Experiment& experiment, const ScalingOptions& range) {
  const ScalingStep step = scaling_step(experiment);
  const int gpus = step.gpus;
  const LastPossible last = last_possible(
      [&](int steps) { return with_dp(experiment, steps * step.replicas).has_value(); },
      {std::max(1, range.fewest_gpus / gpus), range.most_gpus / gpus});
  return last.ends ? axis_end_text(range.most_gpus, last.count * gpus,
                                   why_not_with_dp(experiment, (last.count + 1) * step.replicas))
                   : "";
}

void note_large_models(const Curves<double>& curves, Chart& chart) {
  const auto& points = curves.plans.front().points;
  const auto large = std::find_if(points.begin(), points.end(),
                                  [](const CurvePoint<double>& point) { return !point.fits; });
  if (large != points.end()) {
    chart.notes.push_back(
        fmt::format("From {:.3g} billion parameters on the job does not fit a GPU uncompressed.",
                    large->x / 1e9));
  }
}

void note_node_limit(const Experiment& experiment, const ScalingOptions& scaling, Chart& chart) {
  if (const auto useful = useful_bandwidth(experiment, scaling.highest_bandwidth)) {
    if (*useful > scaling.lowest_bandwidth) {
      chart.limits.push_back(
          {*useful / 1_Gbps, fmt::format("{} carry no more: faster NICs change nothing",
                                         limit_beyond(experiment, *useful) == NodeLimit::sockets
                                             ? "the sockets of a node"
                                             : "the PCIe slots")});
    }
  }
}

}  // namespace payoff
