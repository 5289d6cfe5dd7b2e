// SPDX-License-Identifier: Apache-2.0
#include "study/measured_gpu.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "calibrate/beyond_cache.hpp"
#include "calibrate/compute_priors.hpp"
#include "calibrate/launch_chain.hpp"
#include "model/units_text.hpp"
#include "study/kernel_point.hpp"
#include "study/measured_codecs.hpp"
#include "study/measured_copies.hpp"
#include "study/measured_products.hpp"

namespace payoff {
namespace {

struct Measured {
  double value{};
  double relative_sd{};
};

std::string sourced(const Measured& measured, std::string_view unit = {}) {
  return sourced_text(measured.value, unit, measured.relative_sd);
}

std::optional<Measured> launch_us(const KernelCalibration& calibration) {
  std::vector<LaunchChain> chains;
  for (const KernelLaw* law : laws_of(calibration, "launch")) {
    const double count = value_or(law->parameters, "launches", 1.0);
    for (const KernelPoint& point : law->points) {
      chains.push_back({count, point.time / 1_us, point.relative_sd});
    }
  }
  const std::optional<LaunchTime> launch = fit_launch_chains(chains);
  return launch ? std::optional(Measured{launch->time_us, launch->relative_sd}) : std::nullopt;
}

// Where the driver tells a larger cache than the data sheet, that is where memory begins.
Bytes cache_of(const KernelCalibration& calibration, const Gpu& data) {
  Bytes cache = data.l2;
  for (const SamplesFile& file : calibration.files) {
    cache = std::max(cache, file.device.l2);
  }
  return cache;
}

struct Copy {
  std::optional<Measured> efficiency;
  FitRange<Bytes> streams;
  std::string kernel, implementation;
  UntoldNumber untold;  // where there is no efficiency
};

// Nothing where no copy was measured.
std::optional<Copy> copy_of(const KernelCalibration& calibration, const Gpu& data) {
  const std::vector<const KernelLaw*> laws = laws_of(calibration, "copy");
  if (laws.empty()) {
    return std::nullopt;
  }
  const KernelLaw& law = *laws.front();
  const Bytes cache = cache_of(calibration, data);
  Copy copy{
      {}, law.fit.bytes, law.kernel, law.implementation, {"law.memory_efficiency", "", "", {}}};
  const auto rate = bandwidth_beyond(law.points, cache);
  if (!rate || rate->sd >= rate->gb_per_s) {
    copy.untold.why = law.fit.bytes.largest > cache
                          ? "too few sizes of `copy`"
                          : "no size of `copy` lies beyond the L2 cache of " + to_text(cache);
    copy.untold.measure = "sizes beyond the cache, two and more";
    return copy;
  }
  const double share = rate->gb_per_s / (data.memory_bandwidth / 1_GBps);
  if (share > most_of_a_peak) {
    copy.untold.why = fmt::format(
        "`copy` beyond the cache takes {:.3g} times the memory bandwidth of "
        "{}",
        share, data.name);
    copy.untold.is_wrong = true;
    return copy;
  }
  copy.efficiency = Measured{share, rate->sd / rate->gb_per_s};
  return copy;
}

double believed(const Gpu& gpu, LawParameter parameter) {
  return law_prior(gpu.architecture).at(static_cast<std::size_t>(parameter)).value;
}

// As predictions will have it: with what the samples tell of launches and of the memory, the law of
// the sheet's GPU for what they do not, and what is believed where it has none.
Gpu predicted_gpu(const Gpu& data, const std::optional<Measured>& launch,
                  const std::optional<Copy>& copy) {
  Gpu gpu = data;
  if (launch) {
    gpu.law.launch = launch->value * 1_us;
  } else if (gpu.law.launch <= Seconds{}) {
    gpu.law.launch = believed(gpu, LawParameter::launch) * 1_s;
  }
  if (gpu.law.depth_half <= 0.0) {
    gpu.law.depth_half = believed(gpu, LawParameter::depth_half);
  }
  if (copy && copy->efficiency) {
    gpu.law.memory_efficiency = copy->efficiency->value;
  } else if (gpu.law.memory_efficiency <= 0.0) {
    gpu.law.memory_efficiency = believed(gpu, LawParameter::memory);
  }
  return gpu;
}

MeasuredPart law_part(const KernelCalibration& calibration, const Gpu& data) {
  MeasuredPart part;
  const auto launch = launch_us(calibration);
  if (launch) {
    part.text += "  launch: " + sourced(*launch, " us") + "\n";
    part.uses("launch", laws_of(calibration, "launch").front()->implementation);
  }
  const auto copy = copy_of(calibration, data);
  if (copy && copy->efficiency) {
    part.text += "  memory_efficiency: " + sourced(*copy->efficiency) + "\n";
    part.uses(copy->kernel, copy->implementation);
  } else if (copy) {
    part.untold.push_back(copy->untold);
  }
  MeasuredProducts products = measured_products(calibration, predicted_gpu(data, launch, copy));
  part.add(std::move(products.law));
  std::string ranges = std::move(products.ranges);
  if (copy && copy->efficiency) {
    ranges += fmt::format("    streams: {}\n", range_text(copy->streams));
  }
  part.text += ranges.empty() ? "" : "  measured:\n" + ranges;
  part.text = part.text.empty() ? "" : "law:\n" + part.text;
  return part;
}

}  // namespace

MeasuredPart measured_laws(const KernelCalibration& calibration, const Gpu& data,
                           const std::string& name) {
  MeasuredPart all = law_part(calibration, data);
  all.add(measured_codecs(calibration, data, name));
  all.add(measured_copies(calibration));
  all.add({pair_laws_text(calibration.pairs.fits), {}, {}, {}});
  return all;
}

}  // namespace payoff
