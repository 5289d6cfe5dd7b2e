// SPDX-License-Identifier: Apache-2.0
#include "study/measured_products.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "calibrate/product_fit.hpp"
#include "profiles/precision_names.hpp"
#include "study/kernel_point.hpp"

namespace payoff {
namespace {

constexpr std::array<std::string_view, 2> product_kernels{"gemm", "attention"};

bool has_shape(const KernelPoint& point) {
  return point.product.rows > 0.0 && point.product.columns > 0.0 && point.product.depth > 0.0;
}

// Products that can be used, and why others cannot.
struct ProductPoints {
  std::vector<ProductTiming> timings;
  std::map<Precision, FitRange<Flops>> flops;
  std::set<std::string> kernels;
  std::set<std::pair<std::string, std::string>> unusable;  // why, and what would tell
};

ProductPoints product_points(const KernelCalibration& calibration, const Gpu& gpu) {
  ProductPoints points;
  for (const std::string_view kernel : product_kernels) {
    for (const KernelLaw* law : laws_of(calibration, kernel)) {
      if (!law->parameters.contains("bytes")) {
        points.unusable.insert({"points do not say the width of an element", "the column `bytes`"});
        continue;
      }
      const Precision precision = product_precision(law->parameters);
      if (gpu.peak[precision] <= FlopRate{}) {
        const auto index = static_cast<std::size_t>(precision);
        points.unusable.insert(
            {fmt::format("{} has no peak of {}", gpu.name, precision_names.at(index).first), ""});
        continue;
      }
      for (const KernelPoint& point : law->points) {
        if (!has_shape(point)) {
          points.unusable.insert({"points do not say their shape", "the columns `m`, `n` and `k`"});
          continue;
        }
        points.timings.push_back(
            {precision, point.product, point.bytes, point.time, point.relative_sd});
        points.flops[precision].include(point.flops);
        points.kernels.insert(fmt::format("{} ({})", law->kernel, law->implementation));
      }
    }
  }
  return points;
}

void add_unusable(const ProductPoints& points, MeasuredPart& part) {
  for (const auto& [why, measure] : points.unusable) {
    part.untold.push_back({"law.gemm_efficiency", why, measure, false});
  }
}

std::string_view key_of(Precision precision) {
  return precision_names.at(static_cast<std::size_t>(precision)).first;
}

// Of products that are measured: why a precision has no share.
UntoldNumber without_share(Precision precision, const ProductFit& fit, const Gpu& gpu) {
  UntoldNumber untold{fmt::format("law.gemm_efficiency.{}", key_of(precision)), "", "", false};
  if (const auto found = fit.efficiency.find(precision); found != fit.efficiency.end()) {
    untold.why =
        fmt::format("its products take {:.3g} times the peak of {}", found->second.value, gpu.name);
    untold.is_wrong = true;
  } else {
    untold.why = "its products are bound by memory or by launches";
    untold.measure = "larger and deeper products";
  }
  return untold;
}

bool is_possible(const ProductFit& fit, Precision precision) {
  const auto found = fit.efficiency.find(precision);
  return found != fit.efficiency.end() && found->second.value <= most_of_a_peak;
}

std::string efficiency_lines(const ProductFit& fit) {
  std::string text = "  gemm_efficiency:\n";
  for (const auto& [precision, share] : fit.efficiency) {
    if (is_possible(fit, precision)) {
      text += fmt::format("    {}: {}\n", key_of(precision),
                          sourced_text(share.value, {}, share.relative_sd));
    }
  }
  if (fit.depth_half) {
    text += fmt::format("  depth_half: {}\n",
                        sourced_text(fit.depth_half->value, {}, fit.depth_half->relative_sd));
  }
  return text;
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

MeasuredProducts measured_products(const KernelCalibration& calibration, const Gpu& gpu) {
  MeasuredProducts measured;
  const ProductPoints points = product_points(calibration, gpu);
  add_unusable(points, measured.law);
  if (points.timings.empty()) {
    return measured;
  }
  const ProductFit fit = fit_products(points.timings, gpu);
  bool has_share = false;
  for (const auto& [precision, flops] : points.flops) {
    if (!is_possible(fit, precision)) {
      measured.law.untold.push_back(without_share(precision, fit, gpu));
      continue;
    }
    has_share = true;
    measured.ranges += fmt::format("    {}: {}\n", key_of(precision), range_text(flops));
  }
  if (!has_share) {
    return measured;
  }
  measured.law.text = efficiency_lines(fit);
  measured.law.notes = fmt::format(
      "{} products by the law of predictions: {:.2g} % RMS, the largest error {:.2g} %\n",
      points.timings.size(), 100.0 * fit.rms_error, 100.0 * fit.largest_error);
  for (const std::string& kernel : points.kernels) {
    measured.law.kernels.insert(kernel);
  }
  if (!fit.depth_half) {
    measured.law.untold.push_back({"law.depth_half", "the products are too alike in depth",
                                   "products of other depths, `attention` among them", false});
  }
  return measured;
}

}  // namespace payoff
