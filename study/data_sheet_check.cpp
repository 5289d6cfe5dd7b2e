// SPDX-License-Identifier: Apache-2.0
#include "study/data_sheet_check.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "model/units_text.hpp"
#include "study/measured_part.hpp"
#include "study/measured_products.hpp"

namespace payoff {
namespace {

// An H200's driver reports 60 MiB of L2 cache where tables have 50; a T4's 15 of 16 GB.
constexpr double cache_tolerance = 1.25;
constexpr double memory_tolerance = 1.15;

constexpr std::array<std::string_view, 3> families_beyond_memory{"transfers", "collectives",
                                                                 "interference"};

// Compute capabilities of NVIDIA's architectures (CUDA C++ programming guide); 0: of none.
struct Capabilities {
  Architecture architecture{};
  double first{};
  double last{};
};
constexpr std::array<Capabilities, 7> capabilities{{{Architecture::pascal, 6.0, 6.9},
                                                    {Architecture::volta, 7.0, 7.4},
                                                    {Architecture::turing, 7.5, 7.9},
                                                    {Architecture::ampere, 8.0, 8.8},
                                                    {Architecture::ada, 8.9, 8.9},
                                                    {Architecture::hopper, 9.0, 9.9},
                                                    {Architecture::blackwell, 10.0, 12.9}}};

bool can_have(Architecture architecture, double capability) {
  return std::any_of(capabilities.begin(), capabilities.end(), [&](const Capabilities& each) {
    return each.architecture == architecture && capability >= each.first && capability <= each.last;
  });
}

bool is_near(Bytes a, Bytes b, double tolerance) {
  return std::max(a, b).si <= tolerance * std::min(a, b).si;
}

// The worst of what is too fast in one way.
struct Worst {
  const SamplesPoint* point = nullptr;
  double share{};  // of the peak
  std::size_t count{};

  void add(const SamplesPoint& other, double of_peak) {
    if (of_peak <= most_of_a_peak) {
      return;
    }
    ++count;
    if (of_peak > share) {
      point = &other;
      share = of_peak;
    }
  }
};

// What a launch found in the cache came from no memory; products and scattered accesses may find
// all of it there.
double share_of_bandwidth(const SamplesPoint& point, Seconds time, const Gpu& data) {
  const bool is_elsewhere = std::find(families_beyond_memory.begin(), families_beyond_memory.end(),
                                      point.family) != families_beyond_memory.end();
  const Bytes cached = std::max(point.launches, 1.0) * data.l2;
  if (is_elsewhere || point.flops > Flops{} || point.random_accesses > 0.0 ||
      point.traffic() <= cached || data.memory_bandwidth <= Bandwidth{}) {
    return 0.0;
  }
  return (point.traffic() - cached) / time / data.memory_bandwidth;
}

double share_of_peak(const SamplesPoint& point, Seconds time, const Gpu& data) {
  const FlopRate peak = product_peak(point, data);
  return peak > FlopRate{} ? point.flops / time / peak : 0.0;
}

void report(const Worst& worst, std::string_view what, const Gpu& data, Diagnostics& diagnostics) {
  if (worst.point == nullptr) {
    return;
  }
  diagnostics.error(
      worst.point->place,
      fmt::format("{} takes {:.3g} times {} of {}", title_of(*worst.point), worst.share, what,
                  data.name),
      worst.count > 1 ? fmt::format("and {} more points too much of it", worst.count - 1) : "",
      "the times are wrong, or `--gpu` names another GPU than the measured one");
}

}  // namespace

std::string sheet_differences(const Gpu& data, const SamplesDevice& device) {
  std::string text;
  const auto differs = [&](const std::string& has, const std::string& sheet) {
    text += fmt::format("{}{} and not {}", text.empty() ? "" : ", ", has, sheet);
  };
  if (device.multiprocessors != data.compute_units) {
    differs(fmt::format("{} compute units", device.multiprocessors),
            std::to_string(data.compute_units));
  }
  if (device.l2 > Bytes{} && !is_near(device.l2, data.l2, cache_tolerance)) {
    differs(to_text(device.l2) + " of L2 cache", to_text(data.l2));
  }
  if (device.memory > Bytes{} && !is_near(device.memory, data.memory, memory_tolerance)) {
    differs(to_text(device.memory) + " of memory", to_text(data.memory));
  }
  const Parsed<double> capability = parse_number(device.compute_capability);
  if (capability && !can_have(data.architecture, *capability)) {
    differs("compute capability " + device.compute_capability,
            "one of " + std::string(name(data.architecture)));
  }
  return text;
}

void report_beyond_peaks(const KernelCalibration& calibration, const Gpu& data,
                         Diagnostics& diagnostics) {
  Worst memory;
  Worst arithmetic;
  for (const SamplesFile& file : calibration.files) {
    for (const SamplesPoint& point : file.points) {
      const SampleSummary summary =
          summarize_samples(point.samples, point.discarded, point.clock_ratio);
      if (summary.refused.empty()) {
        memory.add(point, share_of_bandwidth(point, summary.median, data));
        arithmetic.add(point, share_of_peak(point, summary.median, data));
      }
    }
  }
  report(memory, "the memory bandwidth", data, diagnostics);
  report(arithmetic, "the arithmetic peak", data, diagnostics);
}

}  // namespace payoff
