// SPDX-License-Identifier: Apache-2.0
#include "study/measured_codecs.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "calibrate/codec_fit.hpp"
#include "model/units_text.hpp"

namespace payoff {
namespace {

// Kernels that are no codecs, and families of such.
constexpr std::array<std::string_view, 5> other_families{"interference", "memory", "layers",
                                                         "collectives", "transfers"};
constexpr std::array<std::string_view, 6> other_kernels{"copy",  "fill", "read",
                                                        "write", "gemm", "launch"};
// What touches places all over a tensor. Those of a sketch lie in the cache.
constexpr std::array<std::string_view, 2> scattering{"random_k", "scatter_add"};
constexpr std::string_view sketching = "sparse";  // family
constexpr std::string_view factor_step = "power_sgd";
constexpr Bytes sector = 32_B;
constexpr std::size_t fewest_timings = 4;
constexpr std::size_t fewest_sizes = 3;

using Which = std::function<bool(const SamplesPoint&)>;

template <class Names>
bool is_among(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_codec(const SamplesPoint& point) {
  return !is_among(other_families, point.family) && !is_among(other_kernels, point.kernel) &&
         point.traffic() > Bytes{} && point.launches > 0.0 && point.mode == "stream";
}

// Whatever it computes: launches and traffic tell its time.
bool is_streaming(const SamplesPoint& point) {
  return is_codec(point) && point.flops == Flops{} && point.random_accesses == 0.0 &&
         !point.parameters.contains("ratio");
}

bool is_scattering(const SamplesPoint& point) {
  return is_codec(point) && is_among(scattering, point.kernel) && point.flops == Flops{} &&
         point.random_accesses > 0.0;
}

// What a selection takes beyond its traffic depends on its algorithm, and is not the class's. As a
// chain of operators it gathers what it has chosen.
bool is_selection(const SamplesPoint& point) {
  return is_codec(point) && point.family != sketching && !is_among(scattering, point.kernel) &&
         point.flops == Flops{} && point.parameters.contains("ratio");
}

// The matrices of a batch go side by side.
bool is_factor_step(const SamplesPoint& point) {
  const auto batch = point.parameters.find("batch");
  return is_codec(point) && point.kernel == factor_step && point.flops > Flops{} &&
         (batch == point.parameters.end() || batch->second == 1.0);
}

bool has_law_of_its_own(const SamplesPoint& point) {
  return is_streaming(point) || is_selection(point) || is_factor_step(point);
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

CodecTiming timing_of(const SamplesPoint& point, Implementation implementation, const Gpu& data,
                      const std::string& gpu, Seconds time) {
  CodecTiming timing{point.kernel,    gpu, implementation, data.memory_bandwidth,
                     data.l2,         0.0, point.launches, point.host_syncs,
                     point.traffic(), time};
  timing.sectors = point.random_accesses * sector;
  timing.flops = point.flops;
  return timing;
}

// Of a class, those that are wanted; cold ones where there are any.
class Timings {
 public:
  Timings(const KernelCalibration& calibration, const Gpu& data, std::string gpu)
      : calibration_(calibration), data_(data), gpu_(std::move(gpu)) {
    for (const LeftOutPoint& each : calibration.left_out) {
      left_out_.insert(each.title);
    }
  }

  [[nodiscard]] std::vector<CodecTiming> of(Implementation implementation,
                                            const Which& is_wanted) const {
    std::map<bool, std::vector<CodecTiming>> timings;  // by whether they are cold
    for (const SamplesFile& file : calibration_.files) {
      for (const SamplesPoint& point : file.points) {
        if (class_of(point) != implementation || !is_wanted(point) ||
            left_out_.contains(title_of(point))) {
          continue;
        }
        const SampleSummary summary =
            summarize_samples(point.samples, point.discarded, point.clock_ratio);
        if (summary.refused.empty()) {
          timings[point.state == "cold"].push_back(
              timing_of(point, implementation, data_, gpu_, summary.median));
        }
      }
    }
    return timings[!timings[true].empty()];
  }

 private:
  const KernelCalibration& calibration_;
  const Gpu& data_;
  std::string gpu_;
  std::set<std::string> left_out_;
};

// Nothing where the timings tell no law.
std::optional<CodecFit> fit_of(const std::vector<CodecTiming>& timings) {
  std::set<double> sizes;
  for (const CodecTiming& timing : timings) {
    sizes.insert(timing.bytes.si);
  }
  if (timings.size() < fewest_timings || sizes.size() < fewest_sizes) {
    return std::nullopt;
  }
  CodecFit fit = fit_codecs(timings).front();
  const CodecLaw law = fit.law();
  return law.resident_efficiency > 0.0 && law.memory_efficiency > 0.0 ? std::optional(fit)
                                                                      : std::nullopt;
}

// What scattered sectors reach, and the most and fewest of a kernel.
struct Sectors {
  CodecConstant efficiency;
  FitRange<Bytes> gathers;
};

std::optional<Sectors> sectors_of(const std::vector<CodecTiming>& timings, const CodecFit& fit) {
  const auto efficiency = fit_sectors(timings, fit);
  if (!efficiency) {
    return std::nullopt;
  }
  Sectors sectors{*efficiency, {}};
  for (const CodecTiming& timing : timings) {
    sectors.gathers.include(timing.sectors);
  }
  return sectors;
}

template <typename Amount>
std::string range_line(std::string_view key, const FitRange<Amount>& range,
                       std::string_view remark) {
  return fmt::format("{}: {{smallest: {}, largest: {}}}  # {}\n", key, exact_text(range.smallest),
                     exact_text(range.largest), remark);
}

std::string law_lines(const CodecFit& fit, const std::optional<Sectors>& sectors,
                      const std::string& indent) {
  std::string text;
  const auto add = [&](const CodecConstant& constant, std::string_view unit) {
    text += fmt::format("{}{}: {}\n", indent, constant.name,
                        sourced_text(constant.value, unit, constant.sd / constant.value));
  };
  for (const CodecConstant& constant : fit.constants) {
    if (constant.name == "resident_efficiency" || constant.name == "memory_efficiency") {
      add(constant, {});
    }
  }
  if (sectors) {
    add(sectors->efficiency, {});
  }
  if (fit.product_rate) {
    add(*fit.product_rate, " TFLOP/s");
  }
  text += fmt::format("{}relative_sd: {{value: {:.4g}, from: samples}}\n", indent, fit.rms_error);
  text += indent + range_line("streams", fit.streams, "traffic of a kernel");
  if (sectors) {
    text += indent + range_line("gathers", sectors->gathers, "sectors of 32 B of a kernel");
  }
  if (fit.product_rate) {
    // A step is three products of as much arithmetic each.
    const FitRange<Flops> products{fit.products.smallest / 3.0, fit.products.largest / 3.0};
    text += indent + range_line("products", products, "arithmetic of a product");
  }
  return text;
}

// What is left of times without the sectors that they gather: nothing of those whose are not known.
// Errors of a law of what is left are larger shares of it than of the whole: no less than they are.
std::vector<CodecTiming> without_sectors(std::vector<CodecTiming> timings,
                                         const std::optional<Sectors>& sectors) {
  std::vector<CodecTiming> left;
  for (CodecTiming& timing : timings) {
    if (timing.sectors > Bytes{} && sectors) {
      timing.time -= timing.sectors / (timing.memory_bandwidth * sectors->efficiency.value);
      timing.sectors = {};
    }
    if (timing.sectors == Bytes{} && timing.time > Seconds{}) {
      left.push_back(std::move(timing));
    }
  }
  return left;
}

// The laws of single kernels of the class.
std::string kernels_text(const std::vector<CodecTiming>& timings,
                         const std::optional<Sectors>& sectors) {
  std::map<std::string, std::vector<CodecTiming>> by_kernel;
  for (const CodecTiming& timing : timings) {
    by_kernel[timing.entry].push_back(timing);
  }
  std::string text;
  for (const auto& [kernel, own] : by_kernel) {
    const bool multiplies = own.front().flops > Flops{};
    const auto fit = fit_of(without_sectors(own, sectors));
    // Arithmetic that is in the bandwidth would be paid a second time, at a share of the peak.
    if (fit && (!multiplies || fit->product_rate)) {
      text += "      " + kernel + ":\n" + law_lines(*fit, sectors, "        ");
    }
  }
  return text.empty() ? "" : "    kernels:\n" + text;
}

}  // namespace

std::string sourced_text(double value, std::string_view unit, double relative_sd) {
  return fmt::format("{{value: {:.4g}{}, sd: {:.3g}, from: samples}}", value, unit,
                     std::max(relative_sd, 1e-4));
}

std::string measured_codecs(const KernelCalibration& calibration, const Gpu& data,
                            const std::string& gpu) {
  const Timings timings(calibration, data, gpu);
  std::string text;
  for (const Implementation implementation :
       {Implementation::framework_ops, Implementation::library, Implementation::fused}) {
    const auto fit = fit_of(timings.of(implementation, is_streaming));
    if (!fit) {
      continue;
    }
    const auto sectors = sectors_of(timings.of(implementation, is_scattering), *fit);
    text += "  " + std::string(payoff::name(implementation)) + ":\n" +
            law_lines(*fit, sectors, "    ") +
            kernels_text(timings.of(implementation, has_law_of_its_own), sectors);
  }
  return text.empty() ? "" : "codecs:\n" + text;
}

}  // namespace payoff
