// SPDX-License-Identifier: Apache-2.0
#include "study/measured_gpu.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "calibrate/codec_fit.hpp"
#include "calibrate/launch_chain.hpp"
#include "model/units_text.hpp"
#include "profiles/precision_names.hpp"
#include "study/measured_copies.hpp"

namespace payoff {
namespace {

// Kernels that are no codecs, and families of such.
constexpr std::array<std::string_view, 5> other_families{"interference", "memory", "layers",
                                                         "collectives", "transfers"};
constexpr std::array<std::string_view, 6> other_kernels{"copy",  "fill", "read",
                                                        "write", "gemm", "launch"};
constexpr std::size_t fewest_timings = 4;
constexpr std::size_t fewest_sizes = 3;

template <class Names>
bool is_among(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

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
  return fmt::format("{{value: {:.4g}{}, sd: {:.3g}, from: samples}}", measured.value, unit,
                     std::max(measured.relative_sd, 1e-4));
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

struct Copy {
  Measured efficiency;
  FitRange<Bytes> streams;
};

std::optional<Copy> copy_of(const KernelCalibration& calibration, const Gpu& data) {
  const std::vector<const KernelLaw*> laws = laws_of(calibration, "copy");
  if (laws.empty()) {
    return std::nullopt;
  }
  const KernelFit& fit = laws.front()->fit;
  const KernelConstant* beyond = determined_constant(fit, "b2_gb_per_s");
  const KernelConstant* rate = beyond != nullptr ? beyond : determined_constant(fit, "b_gb_per_s");
  if (rate == nullptr) {
    return std::nullopt;
  }
  const double peak = data.memory_bandwidth / 1_GBps;
  return Copy{{rate->value / peak, rate->sd / rate->value}, fit.bytes};
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

// Kernels that stream, whatever they compute: one launch and the traffic tell their time.
bool is_streaming_codec(const SamplesPoint& point) {
  return !is_among(other_families, point.family) && !is_among(other_kernels, point.kernel) &&
         point.flops == Flops{} && point.random_accesses == 0.0 &&
         !point.parameters.contains("ratio") && point.traffic() > Bytes{} && point.launches > 0.0 &&
         point.mode == "stream";
}

std::optional<Implementation> class_of(const SamplesPoint& point) {
  for (const Implementation each :
       {Implementation::framework_ops, Implementation::library, Implementation::fused}) {
    if (name(each) == point.implementation) {
      return each;
    }
  }
  return std::nullopt;
}

std::vector<CodecTiming> timings_of(const KernelCalibration& calibration, const Gpu& data,
                                    const std::string& gpu, Implementation wanted) {
  std::set<std::string> left_out;
  for (const LeftOutPoint& each : calibration.left_out) {
    left_out.insert(each.title);
  }
  std::map<bool, std::vector<CodecTiming>> timings;  // by whether they are cold
  for (const SamplesFile& file : calibration.files) {
    for (const SamplesPoint& point : file.points) {
      if (class_of(point) != wanted || !is_streaming_codec(point) ||
          left_out.contains(title_of(point))) {
        continue;
      }
      const SampleSummary summary =
          summarize_samples(point.samples, point.discarded, point.clock_ratio);
      if (summary.refused.empty()) {
        timings[point.state == "cold"].push_back({point.kernel, gpu, wanted, data.memory_bandwidth,
                                                  data.l2, 0.0, point.launches, point.host_syncs,
                                                  point.traffic(), summary.median});
      }
    }
  }
  return timings[!timings[true].empty()];
}

bool tells_a_law(const std::vector<CodecTiming>& timings) {
  std::set<double> sizes;
  for (const CodecTiming& timing : timings) {
    sizes.insert(timing.bytes.si);
  }
  return timings.size() >= fewest_timings && sizes.size() >= fewest_sizes;
}

std::string codec_lines(const CodecFit& fit, const std::string& key, const std::string& indent) {
  std::string text = indent + key + ":\n";
  for (const CodecConstant& constant : fit.constants) {
    const bool is_efficiency =
        constant.name == "resident_efficiency" || constant.name == "memory_efficiency";
    if (is_efficiency) {
      text += fmt::format("{}  {}: {}\n", indent, constant.name,
                          sourced({constant.value, constant.sd / constant.value}));
    }
  }
  text += fmt::format("{}  relative_sd: {{value: {:.4g}, from: samples}}\n", indent, fit.rms_error);
  return text + fmt::format("{}  streams: {{smallest: {}, largest: {}}}  # traffic of a kernel\n",
                            indent, exact_text(fit.streams.smallest),
                            exact_text(fit.streams.largest));
}

// Nothing where the timings tell no law.
std::string fitted_lines(const std::vector<CodecTiming>& timings, const std::string& key,
                         const std::string& indent) {
  if (!tells_a_law(timings)) {
    return {};
  }
  const CodecFit fit = fit_codecs(timings).front();
  const CodecLaw law = fit.law();
  return law.resident_efficiency > 0.0 && law.memory_efficiency > 0.0
             ? codec_lines(fit, key, indent)
             : "";
}

// The same law for single kernels of the class.
std::string kernels_text(const std::vector<CodecTiming>& timings) {
  std::map<std::string, std::vector<CodecTiming>> by_kernel;
  for (const CodecTiming& timing : timings) {
    by_kernel[timing.entry].push_back(timing);
  }
  std::string text;
  for (const auto& [kernel, own] : by_kernel) {
    text += fitted_lines(own, kernel, "      ");
  }
  return text.empty() ? "" : "    kernels:\n" + text;
}

std::string codecs_text(const KernelCalibration& calibration, const Gpu& data,
                        const std::string& gpu) {
  std::string text;
  for (const Implementation implementation :
       {Implementation::framework_ops, Implementation::library, Implementation::fused}) {
    const std::vector<CodecTiming> timings = timings_of(calibration, data, gpu, implementation);
    const std::string of_class =
        fitted_lines(timings, std::string(payoff::name(implementation)), "  ");
    text += of_class.empty() ? "" : of_class + kernels_text(timings);
  }
  return text.empty() ? "" : "codecs:\n" + text;
}

std::string_view key_of(Precision precision) {
  return precision_names.at(static_cast<std::size_t>(precision)).first;
}

std::string law_text(const KernelCalibration& calibration, const Gpu& data) {
  std::string text;
  if (const auto launch = launch_us(calibration)) {
    text += "  launch: " + sourced(*launch, " us") + "\n";
  }
  const auto copy = copy_of(calibration, data);
  if (copy) {
    text += "  memory_efficiency: " + sourced(copy->efficiency) + "\n";
  }
  const std::map<Precision, Products> products = products_of(calibration, data);
  if (!products.empty()) {
    text += "  gemm_efficiency:\n";
  }
  for (const auto& [precision, product] : products) {
    text += fmt::format("    {}: {}\n", key_of(precision), sourced(product.efficiency));
  }
  if (copy || !products.empty()) {
    text += "  measured:\n";
  }
  const auto range = [&](std::string_view key, const auto& amounts) {
    text += fmt::format("    {}: {{smallest: {}, largest: {}}}\n", key,
                        exact_text(amounts.smallest), exact_text(amounts.largest));
  };
  for (const auto& [precision, product] : products) {
    range(key_of(precision), product.flops);
  }
  if (copy) {
    range("streams", copy->streams);
  }
  return text.empty() ? "" : "law:\n" + text;
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

std::string measured_laws(const KernelCalibration& calibration, const Gpu& data,
                          const std::string& name) {
  return law_text(calibration, data) + codecs_text(calibration, data, name) +
         measured_copies(calibration) + pair_laws_text(calibration.pairs.fits);
}

}  // namespace payoff
