// SPDX-License-Identifier: Apache-2.0
#include "cli/calibration_warnings.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/calibration_text.hpp"
#include "model/units_text.hpp"
#include "profiles/import/samples_device.hpp"
#include "study/unlikely_times.hpp"

namespace payoff {
namespace {

// Times alone and together are compared as if the clock were one.
void warn_of_clocks_together(const KernelCalibration& calibration, Session& session) {
  std::size_t apart = 0;
  std::string first;
  for (const SamplesFile& file : calibration.files) {
    for (const SamplesTogether& run : file.together) {
      for (const SamplesMember& member : run.members) {
        const double change = run.clock_ratio / member.alone_clock_ratio;
        if (std::abs(change - 1.0) <= noticeable_drift) {
          continue;
        }
        ++apart;
        first = !first.empty() ? first
                               : fmt::format("{}, at {} of the clock that it had alone",
                                             title_of(member), percent_text(change));
      }
    }
  }
  if (apart > 0) {
    session.diagnostics().warning(
        std::nullopt,
        fmt::format("{} of the kernels beside others ran at another clock than alone", apart), "",
        "the slow-down that is fitted has the clock's in it; first: " + first);
  }
}

// What is beside other work cannot be faster than alone.
void warn_of_faster_together(const KernelCalibration& calibration, Session& session) {
  for (const LeftOutRun& each : calibration.pairs.left_out) {
    session.diagnostics().warning(each.place, each.title + ": " + each.reason, "",
                                  "left out of the law of pairs");
  }
}

}  // namespace

void warn_of_poor_laws(const KernelCalibration& calibration, Session& session) {
  constexpr std::size_t most_named = 3;
  for (const KernelLaw& law : calibration.laws) {
    if (law.fit.rms_error <= most_law_error) {
      continue;
    }
    std::vector<std::size_t> order(law.points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::abs(law.fit.errors[a]) > std::abs(law.fit.errors[b]);
    });
    order.resize(std::min(order.size(), most_named));
    std::string worst;
    for (const std::size_t i : order) {
      worst += fmt::format("{}{} ({:+.0f} %)", worst.empty() ? "" : "; ", law.points[i].title,
                           100.0 * law.fit.errors[i]);
    }
    session.diagnostics().warning(
        std::nullopt,
        fmt::format("{}: its law ({}) misses its points by {} RMS", title_of(law),
                    name(law.fit.form), percent_text(law.fit.rms_error)),
        "", "worst: " + worst);
  }
}

void warn_of_circumstances(const KernelCalibration& calibration, Session& session) {
  warn_of_clocks_together(calibration, session);
  warn_of_faster_together(calibration, session);
  warn_of_unlikely_times(calibration, session.diagnostics());
  std::size_t ungated = 0;
  double slowest = 1.0;
  for (const SamplesFile& file : calibration.files) {
    for (const SamplesPoint& point : file.points) {
      ungated += point.gated ? 0 : 1;
      slowest = std::min(slowest, point.clock_reference);
    }
  }
  if (ungated > 0) {
    session.diagnostics().warning(std::nullopt,
                                  fmt::format("{} {} measured without holding the GPU back",
                                              ungated, ungated == 1 ? "point was" : "points were"),
                                  "", "launches of the host may be in their times");
  }
  if (slowest < 1.0) {
    session.diagnostics().warning(
        std::nullopt,
        fmt::format("the GPU kept a steady clock of {} of its highest", percent_text(slowest)), "",
        "a limit of power, probably: the laws hold for that clock");
  }
}

void warn_of_other_conditions(const KernelCalibration& laws, const KernelCalibration& other,
                              const KernelChecks& checks, Session& session) {
  const SamplesFile& judge = other.files.front();
  if (const std::string differences = differences_of(judge.device, laws.files.front().device);
      !differences.empty()) {
    session.diagnostics().warning(
        std::nullopt, judge.file + " is of another device than the laws: " + differences);
  }
  if (!checks.other_clock.empty()) {
    session.diagnostics().warning(
        std::nullopt,
        fmt::format("{} of the laws are judged at another steady clock than they were fitted at",
                    checks.other_clock.size()),
        "", "first: " + checks.other_clock.front());
  }
}

}  // namespace payoff
