// SPDX-License-Identifier: Apache-2.0
#include "calibrate/kernel_form.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace payoff {
namespace {

constexpr std::array<std::string_view, 9> form_names{"constant", "affine",        "two_bandwidths",
                                                     "select",   "scatter",       "product",
                                                     "columns",  "factorization", "chain"};

constexpr std::size_t fewest_sizes_of_a_knee = 6;  // its unknowns, the knee, and two more
constexpr std::size_t sizes_for_a_knee = 8;        // to choose it by points left out

double megabytes(Bytes bytes) { return bytes / 1_MB; }
double gigaflops(Flops flops) { return flops.si / 1e9; }

std::size_t sizes_of(std::span<const KernelPoint> points) {
  std::set<double> sizes;
  for (const KernelPoint& point : points) {
    sizes.insert(point.bytes.si);
  }
  return sizes.size();
}

bool differ_in_launches(std::span<const KernelPoint> points) {
  return std::any_of(points.begin(), points.end(), [&](const KernelPoint& point) {
    return point.launches != points.front().launches;
  });
}

}  // namespace

std::string_view name(KernelForm form) { return form_names.at(static_cast<std::size_t>(form)); }

namespace kernel_detail {

std::vector<std::string> coefficient_names(KernelForm form) {
  switch (form) {
    case KernelForm::constant:
      return {"t0"};
    case KernelForm::affine:
      return {"t0", "1 / b"};
    case KernelForm::two_bandwidths:
      return {"t0", "1 / b1", "1 / b2"};
    case KernelForm::select:
      return {"t0", "1 / b", "kept"};
    case KernelForm::scatter:
      return {"t0", "1 / b", "access"};
    case KernelForm::product:
      return {"t0", "1 / rate", "1 / b"};
    case KernelForm::columns:
      return {"column", "1 / b"};
    case KernelForm::chain:
      return {"launch", "1 / b", "1 / rate"};
    default:
      return {"t0", "rank^2", "1 / b"};
  }
}

std::vector<double> row_of(const KernelPoint& point, KernelForm form, const Regime& regime,
                           std::size_t index) {
  const double size = megabytes(point.bytes);
  switch (form) {
    case KernelForm::constant:
      return {1.0};
    case KernelForm::affine:
      return {1.0, size};
    case KernelForm::two_bandwidths: {
      const double knee = megabytes(regime.knee);
      return {1.0, std::min(size, knee), std::max(0.0, size - knee)};
    }
    case KernelForm::select:
      return {1.0, size, point.kept / 1e6};
    case KernelForm::scatter:
      return {1.0, size, point.random_accesses / 1e6};
    case KernelForm::product: {
      const bool arithmetic = regime.arithmetic_bound.at(index);
      return {1.0, arithmetic ? gigaflops(point.flops) : 0.0, arithmetic ? 0.0 : size};
    }
    case KernelForm::columns:
      return {point.rank, point.rank * size};
    case KernelForm::chain:
      return {point.launches, size, gigaflops(point.flops)};
    default:
      return {1.0, point.rank * point.rank, size};
  }
}

Seconds time_of(const KernelPoint& point, KernelForm form, std::span<const double> values,
                Bytes knee) {
  const auto sum = [&](const Regime& regime) {
    const std::vector<double> row = row_of(point, form, regime, 0);
    double time = 0.0;
    for (std::size_t j = 0; j < row.size(); ++j) {
      time += row[j] * values[j];
    }
    return time * 1_us;
  };
  if (form == KernelForm::product) {
    return std::max(sum({{}, {true}}), sum({{}, {false}}));
  }
  return sum({knee, {}});
}

KernelConstant constant_of(KernelForm form, std::size_t coefficient, double value, double sd) {
  const std::string name = coefficient_names(form).at(coefficient);
  if (name == "t0") {
    return {"t0_us", value, sd};
  }
  if (name == "column" || name == "launch") {
    return {name + "_us", value, sd};
  }
  if (name == "rank^2") {
    return {"rank_squared_us", value, sd};
  }
  if (name == "kept" || name == "access") {
    return {name + "_ns", 1e-6 * value * 1e3, 1e-6 * sd * 1e3};
  }
  // 1 MB/us is 1 TB/s, 1 GFLOP/us is 1,000 TFLOP/s.
  const bool is_rate = name == "1 / rate";
  const double unit = 1e3;
  const std::string unit_name = is_rate ? "_tflop_per_s" : "_gb_per_s";
  if (value <= 0.0) {
    return {name.substr(4) + unit_name, 0.0, 0.0, false};
  }
  return {name.substr(4) + unit_name, unit / value, unit / value * (sd / value)};
}

bool can_carry(std::span<const KernelPoint> points, KernelForm form) {
  const auto any = [&](auto has) { return std::any_of(points.begin(), points.end(), has); };
  if (form != KernelForm::constant && points.size() <= coefficient_names(form).size()) {
    return false;
  }
  switch (form) {
    case KernelForm::constant:
      return true;
    case KernelForm::affine:
      return sizes_of(points) >= 2;
    case KernelForm::two_bandwidths:
      return sizes_of(points) >= fewest_sizes_of_a_knee;
    case KernelForm::select:
      return any([](const KernelPoint& point) { return point.kept > 0.0; });
    case KernelForm::scatter:
      return any([](const KernelPoint& point) { return point.random_accesses > 0.0; });
    case KernelForm::product:
      return std::all_of(points.begin(), points.end(),
                         [](const KernelPoint& point) { return point.flops > Flops{}; });
    case KernelForm::chain:
      return differ_in_launches(points) &&
             std::all_of(points.begin(), points.end(),
                         [](const KernelPoint& point) { return point.flops > Flops{}; });
    default:
      return std::all_of(points.begin(), points.end(),
                         [](const KernelPoint& point) { return point.rank > 0.0; });
  }
}

bool can_choose(std::span<const KernelPoint> points, KernelForm form) {
  return can_carry(points, form) &&
         (form != KernelForm::two_bandwidths || sizes_of(points) >= sizes_for_a_knee);
}

}  // namespace kernel_detail
}  // namespace payoff
