// SPDX-License-Identifier: Apache-2.0
#include "study/pair_calibration.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "calibrate/sample_summary.hpp"

namespace payoff {
namespace {

// Of the copies between the points, or else of the fastest copy among them.
Bandwidth copied_by(const std::vector<SamplesFile>& files) {
  Bandwidth anchors;
  Bandwidth points;
  for (const SamplesFile& file : files) {
    for (const SamplesAnchor& anchor : file.anchors) {
      anchors = std::max(anchors, anchor.copy);
    }
    for (const SamplesPoint& point : file.points) {
      if (point.kernel == "copy" && point.state == "cold" && !point.samples.empty()) {
        const SampleSummary summary =
            summarize_samples(point.samples, point.discarded, point.clock_ratio);
        points =
            summary.refused.empty() ? std::max(points, point.traffic() / summary.median) : points;
      }
    }
  }
  return anchors > Bandwidth{} ? anchors : points;
}

PairRole role_of(const SamplesMember& member) {
  const auto found = std::find(pair_role_names.begin(), pair_role_names.end(), member.role);
  return static_cast<PairRole>(found - pair_role_names.begin());
}

PairMember pair_member(const SamplesMember& member, Bandwidth memory) {
  const double share = member.traffic / member.alone / memory;
  return {title_of(member), role_of(member), std::min(1.0, share), member.blocks,
          member.held,      member.alone,    member.together};
}

// "gemm m=1024 takes 1 % of its time alone"; empty where none is faster beside others by more than
// the copies of a run may differ, and what its clock gives.
std::string faster_together(const SamplesTogether& run) {
  for (const SamplesMember& member : run.members) {
    const double faster_clock = std::max(1.0, run.clock_ratio / member.alone_clock_ratio);
    const double share = member.together / member.alone;
    if (share * faster_clock * (1.0 + noticeable_drift) < 1.0) {
      return fmt::format("{} takes {:.3g} % of its time alone", title_of(member), 100.0 * share);
    }
  }
  return {};
}

// As a share of the value, which may be none.
double relative_sd(const PairFit& fit) {
  constexpr double least = 1e-4;
  constexpr double most = 10.0;  // that profiles may state
  return fit.share > 0.0 ? std::clamp(fit.share_sd / fit.share, least, most) : 1.0;
}

// Four digits that do not cut off an end of the range.
double rounded_down(double share) { return std::floor(share * 1e4) / 1e4; }
double rounded_up(double share) { return std::ceil(share * 1e4) / 1e4; }

}  // namespace

PairCalibration calibrate_pairs(const std::vector<SamplesFile>& files) {
  const Bandwidth memory = copied_by(files);
  std::vector<PairRun> runs;
  std::vector<LeftOutRun> left_out;
  for (const SamplesFile& file : files) {
    for (const SamplesTogether& together : file.together) {
      if (std::string reason = faster_together(together); !reason.empty()) {
        left_out.push_back({together.place, title_of(together), std::move(reason)});
        continue;
      }
      PairRun& run = runs.emplace_back();
      for (const SamplesMember& member : together.members) {
        run.push_back(pair_member(member, std::max(memory, Bandwidth{1.0})));
      }
    }
  }
  if (runs.empty()) {
    return {{}, {}, std::move(left_out)};
  }
  if (memory <= Bandwidth{}) {
    return {{},
            "no copy among the samples tells what share of the memory each takes",
            std::move(left_out)};
  }
  PairCalibration result{
      fit_pairs(runs, files.front().device.multiprocessors), {}, std::move(left_out)};
  if (result.fits.fits.empty()) {
    result.why_none =
        fmt::format("a kind of pair needs {} that the compute units slow, and the memory does not",
                    fewest_pairs);
  }
  return result;
}

std::string pair_laws_text(const PairFits& fits) {
  if (fits.fits.empty()) {
    return {};
  }
  std::string text =
      "interference:  # of the slow-down that the law gives, the share that was seen\n";
  for (const PairFit& fit : fits.fits) {
    text += fmt::format(
        "  {}:\n    share: {{value: {:.4g}, sd: {:.3g}, from: samples}}\n"
        "    spread: {{value: {:.4g}, from: samples}}  # from pair to pair\n    pairs: {}\n"
        "    {}: {{smallest: {:.4g}, largest: {:.4g}}}\n",
        name(fit.kind), fit.share, relative_sd(fit), fit.spread, fit.pairs,
        is_beside_message(fit.kind) ? "units_held" : "memory_share",
        rounded_down(fit.beside.smallest), rounded_up(fit.beside.largest));
  }
  text += "beside:\n";
  for (const PairObservation& each : fits.observations) {
    text += fmt::format("- {{member: \"{}\", slow_down: {:.4g}, law: {:.4g}, fitted: {:.4g}}}\n",
                        each.title, each.seen, each.by_law, each.fitted);
  }
  return text;
}

}  // namespace payoff
