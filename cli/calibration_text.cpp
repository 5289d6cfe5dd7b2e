// SPDX-License-Identifier: Apache-2.0
#include "cli/calibration_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "calibrate/kernel_untold.hpp"
#include "cli/counted.hpp"
#include "cli/table.hpp"
#include "model/units_text.hpp"

namespace payoff {
namespace {

std::string constants_text(const KernelFit& fit) {
  std::string text;
  for (const KernelConstant& constant : fit.constants) {
    text += text.empty() ? "" : ", ";
    text += constant.determined
                ? fmt::format("{} {}", constant.name, with_spread(constant.value, constant.sd))
                : constant.name + " not told";
  }
  return text;
}

// One line for each constant and what would tell it, however many laws lack it.
std::string untold_text(const KernelCalibration& calibration) {
  struct Lack {
    UntoldConstant constant;
    std::string first;  // the law's title
    std::size_t laws{};
  };
  std::vector<Lack> lacks;
  for (const KernelLaw& law : calibration.laws) {
    for (UntoldConstant& each : untold_constants(law.points, law.fit)) {
      const auto known = std::find_if(lacks.begin(), lacks.end(), [&](const Lack& lack) {
        return lack.constant.name == each.name && lack.constant.measure == each.measure;
      });
      if (known == lacks.end()) {
        lacks.push_back({std::move(each), title_of(law), 1});
      } else {
        ++known->laws;
      }
    }
  }
  std::string text;
  for (const Lack& lack : lacks) {
    const std::size_t more = lack.laws - 1;
    const std::string others = more == 0 ? "" : " and of " + counted(more, "more law");
    text += fmt::format("not told: {} of {}{}; {} would tell\n", lack.constant.name, lack.first,
                        others, lack.constant.measure);
  }
  return text;
}

}  // namespace

std::string laws_table(const KernelCalibration& calibration) {
  Table table({{"kernel", Align::left},
               {"form", Align::left},
               {"points", Align::right},
               {"rms error", Align::right},
               {"left out", Align::right},
               {"largest", Align::right},
               {"constants", Align::left}});
  for (const KernelLaw& law : calibration.laws) {
    const KernelFit& fit = law.fit;
    const bool has_left_out = law.points.size() > 1 && fit.left_out_error.has_value();
    table.add({title_of(law), std::string(name(fit.form)), std::to_string(law.points.size()),
               percent_text(fit.rms_error), has_left_out ? percent_text(*fit.left_out_error) : "",
               percent_text(fit.largest_error), constants_text(fit)});
  }
  return table.markdown();
}

std::string summary_text(const KernelCalibration& calibration) {
  std::string text = untold_text(calibration);
  for (const LeftOutPoint& each : calibration.left_out) {
    text += fmt::format("left out: {}: {}\n", each.title, each.reason);
  }
  return text + fmt::format(
                    "{}: {} laws of {} points, {} samples; {} outliers and {} points left out; "
                    "copies of one run differ by {}.\n",
                    calibration.files.front().device.name, calibration.laws.size(),
                    calibration.points - calibration.left_out.size(), calibration.samples,
                    calibration.outliers, calibration.left_out.size(),
                    percent_text(calibration.drift));
}

std::string spread_text(const KernelLaw& law) {
  constexpr std::size_t draws = 200;
  const std::vector<double> drawn = bootstrap_sd(law.points, law.fit, draws);
  std::string text;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const KernelConstant& constant = law.fit.constants[i];
    if (constant.determined) {
      text += fmt::format("{}{} {:.2g} and {:.2g}", text.empty() ? "" : ", ", constant.name,
                          constant.sd, drawn[i]);
    }
  }
  return text.empty() ? "" : fmt::format("  sd by covariance and by {} draws: {}\n", draws, text);
}

std::string residual_plot(const KernelLaw& law) {
  constexpr std::size_t half = 15;
  const double widest = std::max(law.fit.largest_error, 1e-3);
  std::string text = fmt::format("\n{}, residuals to ± {}\n", title_of(law), percent_text(widest));
  for (std::size_t i = 0; i < law.points.size(); ++i) {
    std::string bar(2 * half + 1, ' ');
    bar[half] = '|';
    const double at = law.fit.errors[i] / widest * static_cast<double>(half);
    bar[static_cast<std::size_t>(static_cast<double>(half) + std::round(at))] = '*';
    text += fmt::format("  {:>10} {:>10}  [{}] {:+.1f} %\n", to_text(law.points[i].bytes),
                        to_text(law.points[i].time), bar, 100.0 * law.fit.errors[i]);
  }
  return text;
}

std::string pairs_text(const KernelCalibration& calibration) {
  const PairFits& fits = calibration.pairs.fits;
  std::string text;
  if (!fits.fits.empty()) {
    Table table({{"beside each other", Align::left},
                 {"pairs", Align::right},
                 {"share of the law's slow-down", Align::right},
                 {"from pair to pair", Align::right}});
    for (const PairFit& fit : fits.fits) {
      table.add({std::string(name(fit.kind)), std::to_string(fit.pairs),
                 with_spread(fit.share, fit.share_sd), fmt::format("{:.2g}", fit.spread)});
    }
    text += table.markdown();
  }
  if (!fits.observations.empty()) {
    Table table({{"member", Align::left},
                 {"seen", Align::right},
                 {"law", Align::right},
                 {"fitted", Align::right},
                 {"", Align::left}});
    for (const PairObservation& each : fits.observations) {
      table.add({each.title, fmt::format("{:.2f}", each.seen), fmt::format("{:.2f}", each.by_law),
                 fmt::format("{:.2f}", each.fitted), each.kind ? "" : "not fitted to"});
    }
    text += table.markdown();
  }
  return text + (calibration.pairs.why_none.empty()
                     ? ""
                     : "no law of pairs: " + calibration.pairs.why_none + "\n");
}

}  // namespace payoff
