// SPDX-License-Identifier: Apache-2.0
#include "study/measured_gpu.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "calibrate/beyond_cache.hpp"
#include "calibrate/launch_chain.hpp"
#include "model/units_text.hpp"
#include "profiles/precision_names.hpp"
#include "study/measured_codecs.hpp"
#include "study/measured_copies.hpp"

namespace payoff {
namespace {

double value_or(const std::map<std::string, double>& parameters, const std::string& name,
                double otherwise) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? otherwise : found->second;
}

struct Measured {
  double value{};
  double relative_sd{};
};

std::string sourced(const Measured& measured, std::string_view unit = {}) {
  return sourced_text(measured.value, unit, measured.relative_sd);
}

// The laws of a kernel, the cold ones where there are any; launched one by one before graphs.
std::vector<const KernelLaw*> laws_of(const KernelCalibration& calibration,
                                      std::string_view kernel) {
  std::vector<const KernelLaw*> laws;
  for (const KernelLaw& law : calibration.laws) {
    if (law.kernel == kernel) {
      laws.push_back(&law);
    }
  }
  const auto keep = [&](auto is_better) {
    if (std::any_of(laws.begin(), laws.end(), is_better)) {
      std::erase_if(laws, [&](const KernelLaw* law) { return !is_better(law); });
    }
  };
  keep([](const KernelLaw* law) { return law->state == "cold"; });
  keep([](const KernelLaw* law) { return law->mode == "stream"; });
  return laws;
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

struct Products {
  Measured efficiency;
  FitRange<Flops> flops;
};

std::map<Precision, Products> products_of(const KernelCalibration& calibration, const Gpu& data) {
  std::map<Precision, Products> products;
  for (const KernelLaw* law : laws_of(calibration, "gemm")) {
    if (!law->parameters.contains("bytes")) {
      continue;  // of a program that does not tell
    }
    const Precision precision = product_precision(law->parameters);
    const KernelConstant* rate = determined_constant(law->fit, "rate_tflop_per_s");
    const FlopRate peak = data.peak[precision];
    if (rate != nullptr && peak > FlopRate{}) {
      products[precision] = {{rate->value / (peak / 1_TFLOPps), rate->sd / rate->value},
                             law->fit.flops};
    }
  }
  return products;
}

std::string_view key_of(Precision precision) {
  return precision_names.at(static_cast<std::size_t>(precision)).first;
}

MeasuredPart law_part(const KernelCalibration& calibration, const Gpu& data) {
  MeasuredPart part;
  std::string ranges;
  if (const auto launch = launch_us(calibration)) {
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
  const std::map<Precision, Products> products = products_of(calibration, data);
  if (!products.empty()) {
    part.text += "  gemm_efficiency:\n";
    part.uses("gemm", laws_of(calibration, "gemm").front()->implementation);
  }
  for (const auto& [precision, product] : products) {
    part.text += fmt::format("    {}: {}\n", key_of(precision), sourced(product.efficiency));
    ranges += fmt::format("    {}: {}\n", key_of(precision), range_text(product.flops));
  }
  if (copy && copy->efficiency) {
    ranges += fmt::format("    streams: {}\n", range_text(copy->streams));
  }
  part.text += ranges.empty() ? "" : "  measured:\n" + ranges;
  part.text = part.text.empty() ? "" : "law:\n" + part.text;
  return part;
}

}  // namespace

Precision product_precision(const std::map<std::string, double>& parameters) {
  const double bytes = value_or(parameters, "bytes", 0.0);
  if (bytes < 2.0) {
    return Precision::fp8;
  }
  const bool is_marked = value_or(parameters, bytes > 2.0 ? "tf32" : "fp16", 0.0) > 0.0;
  if (bytes > 2.0) {
    return is_marked ? Precision::tf32 : Precision::fp32;
  }
  return is_marked ? Precision::fp16 : Precision::bf16;
}

FlopRate product_peak(const SamplesPoint& point, const Gpu& data) {
  return point.kernel == "gemm" && point.parameters.contains("bytes")
             ? data.peak[product_precision(point.parameters)]
             : FlopRate{};
}

MeasuredPart measured_laws(const KernelCalibration& calibration, const Gpu& data,
                           const std::string& name) {
  MeasuredPart all = law_part(calibration, data);
  all.add(measured_codecs(calibration, data, name));
  all.add(measured_copies(calibration));
  all.add({pair_laws_text(calibration.pairs.fits), {}, {}});
  return all;
}

}  // namespace payoff
