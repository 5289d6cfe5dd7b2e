// SPDX-License-Identifier: Apache-2.0
#include "calibrate/kernel_untold.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace payoff {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 11> measures{{
    {"t0_us", "smaller sizes"},
    {"b_gb_per_s", "larger sizes"},
    {"b1_gb_per_s", "more sizes below the knee"},
    {"b2_gb_per_s", "larger sizes"},
    {"knee_mb", "more sizes around the knee"},
    {"kept_ns", "another share kept, at the same sizes"},
    {"access_ns", "other numbers of random accesses, at the same sizes"},
    {"rate_tflop_per_s", "larger products"},
    {"column_us", "smaller sizes, at several ranks"},
    {"rank_squared_us", "other ranks, at the same sizes"},
    {"launch_us", "smaller sizes, at several ranks"},
}};

std::string_view measure_of(std::string_view name) {
  const auto* found = std::find_if(measures.begin(), measures.end(),
                                   [&](const auto& each) { return each.first == name; });
  return found == measures.end() ? std::string_view("other sizes") : found->second;
}

// The values of a quantity, to a part in a million; empty where a point has none.
template <class Quantity>
std::set<double> values_of(std::span<const KernelPoint> points, Quantity quantity) {
  std::set<double> values;
  for (const KernelPoint& point : points) {
    const double value = quantity(point);
    if (!(value > 0.0)) {
      return {};
    }
    values.insert(std::round(std::log(value) * 1e6));
  }
  return values;
}

class Untold {
 public:
  void add(std::string_view name, std::string measure) {
    const bool is_there = std::any_of(
        all_.begin(), all_.end(), [&](const UntoldConstant& each) { return each.name == name; });
    if (!is_there) {
      all_.push_back({std::string(name), std::move(measure)});
    }
  }
  [[nodiscard]] std::vector<UntoldConstant> all() && { return std::move(all_); }

 private:
  std::vector<UntoldConstant> all_;
};

}  // namespace

std::vector<UntoldConstant> untold_constants(std::span<const KernelPoint> points,
                                             const KernelFit& fit) {
  Untold untold;
  const auto flops = values_of(points, [](const KernelPoint& point) { return point.flops.si; });
  const auto sizes = values_of(points, [](const KernelPoint& point) { return point.bytes.si; });
  const auto ranks = values_of(points, [](const KernelPoint& point) { return point.rank; });
  const auto shares =
      values_of(points, [](const KernelPoint& point) { return point.kept / point.bytes.si; });
  if (fit.form == KernelForm::constant && !flops.empty()) {
    untold.add("rate_tflop_per_s", flops.size() == 1 ? "a second size" : "larger products");
  } else if (fit.form == KernelForm::constant && !sizes.empty()) {
    untold.add("b_gb_per_s", sizes.size() == 1 ? "a second size" : "larger sizes");
  }
  if (ranks.size() == 1) {
    const std::string measure = fmt::format("another rank than {:g}", points.front().rank);
    untold.add("column_us", measure);
    untold.add("rank_squared_us", measure);
  }
  if (shares.size() == 1 && sizes.size() > 1) {
    untold.add("kept_ns", std::string(measure_of("kept_ns")));
  }
  for (const KernelConstant& constant : fit.constants) {
    if (!constant.determined) {
      untold.add(constant.name, std::string(measure_of(constant.name)));
    }
  }
  return std::move(untold).all();
}

}  // namespace payoff
