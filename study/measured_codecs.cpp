// SPDX-License-Identifier: Apache-2.0
#include "study/measured_codecs.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "calibrate/codec_fit.hpp"
#include "model/units_text.hpp"
#include "study/codec_samples.hpp"

namespace payoff {
namespace {

constexpr std::size_t fewest_timings = 4;
constexpr std::size_t fewest_sizes = 3;

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

constexpr std::array<std::string_view, 2> efficiencies{"resident_efficiency", "memory_efficiency"};

bool can_be_reached(const CodecConstant& constant) {
  return constant.name != "memory_efficiency" || constant.value <= most_of_a_peak;
}

// nullptr: the sizes do not tell it, or more than there can be.
const CodecConstant* told_constant(const CodecFit& fit, std::string_view name) {
  const auto found =
      std::find_if(fit.constants.begin(), fit.constants.end(),
                   [&](const CodecConstant& each) { return each.name == name && each.told; });
  return found == fit.constants.end() || !can_be_reached(*found) ? nullptr : &*found;
}

bool tells_both(const CodecFit& fit) {
  return told_constant(fit, efficiencies[0]) != nullptr &&
         told_constant(fit, efficiencies[1]) != nullptr;
}

// Of a class: which efficiencies stay as they were.
void add_untold(const CodecFit& fit, const Gpu& data, const std::string& path, MeasuredPart& part) {
  for (const CodecConstant& constant : fit.constants) {
    const bool is_efficiency =
        (constant.name == efficiencies[0] || constant.name == efficiencies[1]);
    if (!is_efficiency || told_constant(fit, constant.name) != nullptr) {
      continue;
    }
    UntoldNumber untold{path + "." + constant.name, "", "", constant.told};
    if (constant.told) {
      untold.why =
          fmt::format("beyond the cache its kernels take {:.3g} times the memory bandwidth of {}",
                      constant.value, data.name);
    } else {
      const bool of_memory = constant.name == "memory_efficiency";
      const bool has_none =
          of_memory ? fit.streams.largest <= data.l2 : fit.streams.smallest > data.l2;
      untold.why =
          fmt::format("{} sizes of its kernels {} the L2 cache of {}", has_none ? "no" : "too few",
                      of_memory ? "lie beyond" : "fit into", to_text(data.l2));
      untold.measure = of_memory ? "larger sizes" : "smaller sizes";
    }
    part.untold.push_back(std::move(untold));
  }
}

std::string law_lines(const CodecFit& fit, const std::optional<Sectors>& sectors,
                      const std::string& indent) {
  std::string text;
  const auto add = [&](const CodecConstant& constant, std::string_view unit) {
    text += fmt::format("{}{}: {}\n", indent, constant.name,
                        sourced_text(constant.value, unit, constant.sd / constant.value));
  };
  for (const std::string_view name : efficiencies) {
    if (const CodecConstant* constant = told_constant(fit, name)) {
      add(*constant, {});
    }
  }
  if (sectors) {
    add(sectors->efficiency, {});
  }
  if (fit.product_rate) {
    add(*fit.product_rate, " TFLOP/s");
  }
  // Of what is published in an efficiency's place the published deviation holds.
  if (tells_both(fit)) {
    text += fmt::format("{}relative_sd: {{value: {:.4g}, from: samples}}\n", indent, fit.rms_error);
  }
  text += fmt::format("{}streams: {}  # traffic of a kernel\n", indent, range_text(fit.streams));
  if (sectors) {
    text += fmt::format("{}gathers: {}  # sectors of 32 B of a kernel\n", indent,
                        range_text(sectors->gathers));
  }
  if (fit.product_rate) {
    // A step is three products of as much arithmetic each.
    const FitRange<Flops> products{fit.products.smallest / 3.0, fit.products.largest / 3.0};
    text +=
        fmt::format("{}products: {}  # arithmetic of a product\n", indent, range_text(products));
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

// Why a kernel has no law of its own, and what would tell one.
struct WithoutLaw {
  std::string why;
  std::string measure;

  auto operator<=>(const WithoutLaw&) const = default;
};

WithoutLaw without_law(const std::vector<CodecTiming>& own, const std::optional<CodecFit>& fit,
                       bool knows_sectors) {
  const bool gathers = std::any_of(
      own.begin(), own.end(), [](const CodecTiming& timing) { return timing.sectors > Bytes{}; });
  if (gathers && !knows_sectors) {
    return {"no law of their own without `random_efficiency` of their class",
            "`random_k` and `scatter_add`, beside kernels that stream"};
  }
  if (fit && own.front().flops > Flops{} && !fit->product_rate) {
    return {"no law of their own without ranks that tell arithmetic from traffic", "more ranks"};
  }
  return {"no law of their own without sizes on both sides of the cache", "more sizes"};
}

// The laws of single kernels of the class.
MeasuredPart kernels_part(const std::vector<CodecTiming>& timings,
                          const std::optional<Sectors>& sectors, const std::string& path) {
  std::map<std::string, std::vector<CodecTiming>> by_kernel;
  for (const CodecTiming& timing : timings) {
    by_kernel[timing.entry].push_back(timing);
  }
  MeasuredPart part;
  std::map<WithoutLaw, std::string> without;
  for (const auto& [kernel, own] : by_kernel) {
    const bool multiplies = own.front().flops > Flops{};
    const auto fit = fit_of(without_sectors(own, sectors));
    // Arithmetic that is in the bandwidth would be paid a second time, at a share of the peak.
    if (fit && tells_both(*fit) && (!multiplies || fit->product_rate)) {
      part.text += "      " + kernel + ":\n" + law_lines(*fit, sectors, "        ");
      part.uses(kernel, std::string(name(fit->implementation)));
    } else {
      std::string& names = without[without_law(own, fit, sectors.has_value())];
      names += (names.empty() ? "" : ", ") + kernel;
    }
  }
  part.text = part.text.empty() ? "" : "    kernels:\n" + part.text;
  for (const auto& [reason, names] : without) {
    part.untold.push_back({path + ".kernels", reason.why + ": " + names, reason.measure, false});
  }
  return part;
}

// Of the kernels that stream; nothing where they tell none.
struct ClassLaw {
  MeasuredPart part;
  std::optional<Sectors> sectors;
};

ClassLaw class_law(const CodecSamples& timings, Implementation implementation, const Gpu& data,
                   const std::string& path) {
  ClassLaw law;
  const std::string of_class(name(implementation));
  const std::vector<CodecTiming> streaming = timings.of(implementation, is_streaming);
  const auto fit = fit_of(streaming);
  if (!fit) {
    if (!streaming.empty()) {
      law.part.untold.push_back(
          {path, "too few points or sizes of its kernels", "more sizes", false});
    }
    return law;
  }
  add_untold(*fit, data, path, law.part);
  const bool has_memory = told_constant(*fit, "memory_efficiency") != nullptr;
  const std::vector<CodecTiming> scattered = timings.of(implementation, is_scattering);
  law.sectors = has_memory ? sectors_of(scattered, *fit) : std::nullopt;
  if (has_memory || told_constant(*fit, "resident_efficiency") != nullptr) {
    law.part.text = law_lines(*fit, law.sectors, "    ");
    for (const CodecTiming& timing : streaming) {
      law.part.uses(timing.entry, of_class);
    }
    for (const CodecTiming& timing : law.sectors ? scattered : std::vector<CodecTiming>{}) {
      law.part.uses(timing.entry, of_class);
    }
  }
  return law;
}

// A kernel's own law needs none of its class: a method may be all that was measured.
MeasuredPart class_part(const CodecSamples& timings, Implementation implementation,
                        const Gpu& data) {
  const std::string of_class(name(implementation));
  const std::string path = "codecs." + of_class;
  ClassLaw law = class_law(timings, implementation, data, path);
  MeasuredPart part = std::move(law.part);
  part.add(kernels_part(timings.of(implementation, has_law_of_its_own), law.sectors, path));
  part.text = part.text.empty() ? "" : "  " + of_class + ":\n" + part.text;
  return part;
}

}  // namespace

MeasuredPart measured_codecs(const KernelCalibration& calibration, const Gpu& data,
                             const std::string& gpu) {
  const CodecSamples timings(calibration, data, gpu);
  MeasuredPart all;
  for (const auto& [text, implementation] : implementation_names) {
    all.add(class_part(timings, implementation, data));
  }
  all.text = all.text.empty() ? "" : "codecs:\n" + all.text;
  return all;
}

}  // namespace payoff
