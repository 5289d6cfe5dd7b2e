// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "calibrate/kernel_fit.hpp"

// The forms of calibrate/kernel_fit.hpp as rows of a linear system (internal to the fit): times in
// us, traffic in MB, arithmetic in GFLOP, so that coefficients are of the size of one.

namespace payoff::kernel_detail {

// What makes a form linear: the knee of two bandwidths, or which side of a product's maximum every
// point is on.
struct Regime {
  Bytes knee{};
  std::vector<bool> arithmetic_bound;
};

[[nodiscard]] std::vector<std::string> coefficient_names(KernelForm form);

// Of point `index` of the fit.
[[nodiscard]] std::vector<double> row_of(const KernelPoint& point, KernelForm form,
                                         const Regime& regime, std::size_t index);

// The law itself: a product's larger side.
[[nodiscard]] Seconds time_of(const KernelPoint& point, KernelForm form,
                              std::span<const double> values, Bytes knee);

// What a coefficient means to people: a bandwidth instead of its inverse.
[[nodiscard]] KernelConstant constant_of(KernelForm form, std::size_t coefficient, double value,
                                         double sd);

// Whether the points have what the form needs, and are more than its coefficients.
[[nodiscard]] bool can_carry(std::span<const KernelPoint> points, KernelForm form);

// Whether they are enough to compare the form with others by points left out.
[[nodiscard]] bool can_choose(std::span<const KernelPoint> points, KernelForm form);

}  // namespace payoff::kernel_detail
