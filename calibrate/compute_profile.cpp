// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <string_view>

#include "calibrate/compute_fit.hpp"
#include "calibrate/compute_priors.hpp"
#include "calibrate/profile_digits.hpp"
#include "model/units_text.hpp"

namespace payoff {
namespace {

constexpr PerPrecision<std::string_view> precisions{{{"fp32", "tf32", "fp16", "bf16", "fp8"}}};
constexpr PerPrecision<LawParameter> gemm{
    {{LawParameter::gemm_fp32, LawParameter::gemm_tf32, LawParameter::gemm_16,
      LawParameter::gemm_16, LawParameter::gemm_fp8}}};

struct Line {
  std::string_view key;
  LawParameter parameter;
};
constexpr std::array<Line, 4> factors{{{"convolution_efficiency", LawParameter::convolution},
                                       {"attention_efficiency", LawParameter::attention},
                                       {"depth_half", LawParameter::depth_half},
                                       {"memory_efficiency", LawParameter::memory}}};

std::string three_digits(double value) { return digits(value, 3); }
std::string microseconds(double seconds) { return three_digits(seconds * 1e6) + " us"; }

// A parameter that cases narrowed comes from them, another one from its prior. `shared` is the
// width of the factor that it contains.
bool is_fitted(const FittedParameter& fitted, const LawPrior& prior, double shared = 0) {
  return fitted.cases > 0 && fitted.log_sd < 0.9 * std::hypot(prior.log_sd, shared);
}

std::string value(const std::string& text, double log_sd, const std::string& from,
                  const std::string& range = {}) {
  return "{value: " + text + ", sd: " + three_digits(log_sd) + ", from: " + from +
         (range.empty() ? "" : ", range: \"" + range + "\"") + "}\n";
}

// In whole operations and bytes, rounded outwards.
template <typename Amount>
std::string whole_range_text(const FitRange<Amount>& range) {
  return range_text(
      FitRange<Amount>{Amount{std::floor(range.smallest.si)}, Amount{std::ceil(range.largest.si)}});
}

class Writer {
 public:
  Writer(const ComputeFit& fit, std::span<const Gpu> gpus) : fit_(fit), gpus_(gpus) {}

  std::string write() {
    text_ =
        "# SPDX-License-Identifier: Apache-2.0\n"
        "# yaml-language-server: $schema=../../docs/schema/fitted.schema.json\n"
        "# Written by `payoff calibrate fit` from tests/validation/training (fit half). Do not "
        "edit.\n";
    citations();
    text_ += "gpu:\n";
    for (const Gpu& gpu : gpus_) {
      law(gpu, fit_.laws[static_cast<std::size_t>(gpu.architecture)]);
    }
    text_ += "software:\n";
    for (const FittedSoftware& stack : fit_.software) {
      software(stack);
    }
    return std::move(text_);
  }

 private:
  void citation(const std::string& key, const char* kind, const std::string& text) {
    text_ += "  " + key + ": {kind: " + kind + ", date: 2026-11-21, text: \"" + text + "\"}\n";
  }

  void citations() {
    text_ += "citations:\n";
    citation("mamf", "published",
             "best measured matrix products, stas00/ml-engineering at 744d01e, "
             "compute/accelerator, as a "
             "share of the data sheet, times the share that the fitted architectures sustain");
    citation("assumed", "assumed",
             "class prior, calibrate/compute_priors.cpp; no published step time tells it");
    for (const FittedLaw& law : fit_.laws) {
      if (!law.sources.empty()) {
        citation(std::string(name(law.architecture)) + "_steps", "published",
                 "fitted to the step times of tests/validation/training: " + joined(law.sources));
      }
    }
    for (const FittedSoftware& stack : fit_.software) {
      if (stack.cases > 0) {
        citation(stack.name + "_steps", "published",
                 "fitted to the step times of tests/validation/training: " + joined(stack.sources));
      }
    }
  }

  static std::string source(const FittedLaw& law, LawParameter p) {
    const LawPrior& prior = law_prior(law.architecture)[static_cast<std::size_t>(p)];
    const bool tensor =
        p == LawParameter::gemm_16 || p == LawParameter::gemm_tf32 || p == LawParameter::gemm_fp8;
    if (is_fitted(law[p], prior, tensor ? sustained_prior.log_sd : 0)) {
      return std::string(name(law.architecture)) + "_steps";
    }
    return prior.published ? "mamf" : "assumed";
  }

  static std::string cases(const FittedParameter& fitted) {
    return fitted.cases > 0 ? std::to_string(fitted.cases) + " steps" : "";
  }

  void law(const Gpu& gpu, const FittedLaw& law) {
    text_ += "  " + gpu.name + ":\n    gemm_efficiency:\n";
    for (std::size_t i = 0; i < precision_count; ++i) {
      const auto precision = static_cast<Precision>(i);
      if (gpu.peak[precision] > FlopRate{}) {
        const FittedParameter& fitted = law[gemm[precision]];
        text_ += "      " + std::string(precisions[precision]) + ": " +
                 value(three_digits(fitted.value), fitted.log_sd, source(law, gemm[precision]),
                       cases(fitted));
      }
    }
    for (const Line& line : factors) {
      const FittedParameter& fitted = law[line.parameter];
      text_ += "    " + std::string(line.key) + ": " +
               value(three_digits(fitted.value), fitted.log_sd, source(law, line.parameter),
                     cases(fitted));
    }
    const FittedParameter& launch = law[LawParameter::launch];
    text_ += "    launch: " + value(microseconds(launch.value), launch.log_sd,
                                    source(law, LawParameter::launch), cases(launch));
    measured(gpu);
    text_ += "    relative_sd: {value: " + three_digits(law_of(law).relative_sd) +
             ", from: " + source(law, LawParameter::gemm_16) + "}\n";
  }

  template <typename Amount>
  void range(std::string_view key, const FitRange<Amount>& range) {
    if (!range.empty()) {
      text_ += "      " + std::string(key) + ": " + whole_range_text(range) + "\n";
    }
  }

  void measured(const Gpu& gpu) {
    const auto found = fit_.measured.find(gpu.name);
    if (found == fit_.measured.end()) {
      return;
    }
    const KernelAmounts& amounts = found->second;
    text_ += "    measured:\n";
    for (std::size_t i = 0; i < precision_count; ++i) {
      const auto precision = static_cast<Precision>(i);
      if (gpu.peak[precision] > FlopRate{}) {
        range(precisions[precision], amounts.products[precision]);
      }
    }
    range("convolutions", amounts.convolutions);
    range("attention", amounts.attention);
    range("streams", amounts.streams);
  }

  void software(const FittedSoftware& stack) {
    text_ += "  " + stack.name + ":\n";
    const auto line = [&](const char* key, SoftwareParameter p, const std::string& text) {
      const LawPrior& prior = software_prior(stack.name)[static_cast<std::size_t>(p)];
      const double shared = p == SoftwareParameter::memory_traffic ? traffic_prior.log_sd : 0;
      text_ += std::string("    ") + key + ": " +
               value(text, stack[p].log_sd,
                     is_fitted(stack[p], prior, shared) ? stack.name + "_steps" : "assumed",
                     cases(stack[p]));
    };
    line("host_per_kernel", SoftwareParameter::host_per_kernel,
         microseconds(stack[SoftwareParameter::host_per_kernel].value));
    line("host_per_step", SoftwareParameter::host_per_step,
         microseconds(stack[SoftwareParameter::host_per_step].value));
    line("memory_traffic_ratio", SoftwareParameter::memory_traffic,
         three_digits(stack[SoftwareParameter::memory_traffic].value));
    text_ += "    relative_sd: {value: " + three_digits(stack.relative_sd) +
             ", from: " + (stack.cases > 0 ? stack.name + "_steps" : "assumed") + "}\n";
  }

  const ComputeFit& fit_;
  std::span<const Gpu> gpus_;
  std::string text_;
};

}  // namespace

std::string compute_profile(const ComputeFit& fit, std::span<const Gpu> gpus) {
  return Writer(fit, gpus).write();
}

}  // namespace payoff
