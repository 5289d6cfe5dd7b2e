// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/hardware.hpp"
#include "model/matrix_product.hpp"
#include "model/units.hpp"

// The time law of one kernel from its own measurements, by least squares on relative errors with
// non-negative coefficients. Of the forms that the points can carry, the simplest is taken whose
// error on points left out of the fit is within a tenth of the best one's:
//   constant         t0
//   affine           t0 + S / b
//   two_bandwidths   t0 + min(S, knee) / b1 + max(0, S - knee) / b2   (chosen from 8 sizes on)
//   select           t0 + S / b + kept c              (Top-K: what is kept is written at random)
//   scatter          t0 + S / b + accesses c
//   product          t0 + max(F / rate, S / b)
//   columns          r c0 + r S / b                   (Gram-Schmidt, one by one)
//   factorization    t0 + r^2 c + S / b               (Cholesky-QR)
//   chain            l c + S / b + F / rate           (PowerSGD's step, operator by operator)
// with S the traffic, F the arithmetic, r the rank, l the launches where points differ in them. The
// covariance is that of the points' own noise, as if coefficients had no bound, widened where the
// law misses them by more than that. Valid inside the fitted range of S, F, r, the share that is
// kept and the random accesses.

namespace payoff {

enum class KernelForm {
  constant,
  affine,
  two_bandwidths,
  select,
  scatter,
  product,
  columns,
  factorization,
  chain
};
[[nodiscard]] std::string_view name(KernelForm form);

struct KernelPoint {
  std::string title;
  Bytes bytes{};
  Flops flops{};
  double random_accesses{};
  double ratio{};  // of the elements that a sparse message keeps
  double kept{};   // elements of it
  double rank{};
  double launches{};
  Product product{};  // of a kernel that is one
  Seconds time{};
  double relative_sd{};  // of the time; positive
};

// A constant of a law in the unit that its name ends with: t0_us, b_gb_per_s, rate_tflop_per_s.
struct KernelConstant {
  std::string name;
  double value{};
  double sd{};
  bool determined{true};  // false: the points do not tell it
};

struct KernelFit {
  KernelForm form{};
  std::vector<KernelConstant> constants;
  std::vector<std::string> coefficients;        // as solved for: times in us, each for one unit
  std::vector<double> values;                   // of them
  std::vector<std::vector<double>> covariance;  // of them
  std::optional<Bytes> knee;                    // of two_bandwidths
  std::vector<double> errors;                   // predicted / measured - 1, in order
  double rms_error{};
  double largest_error{};
  std::optional<double> left_out_error;  // RMS over points that the fit had not seen
  FitRange<Bytes> bytes;
  FitRange<Flops> flops;
  FitRange<double> accesses;  // at random
  FitRange<double> ratios;
  FitRange<double> ranks;

  [[nodiscard]] Seconds predict(const KernelPoint& point) const;
  // Whether the point lies within what was measured.
  [[nodiscard]] bool covers(const KernelPoint& point) const;
};

// nullptr: not in the form, or the points do not determine it.
[[nodiscard]] const KernelConstant* determined_constant(const KernelFit& fit,
                                                        std::string_view name);

// `points` is not empty.
[[nodiscard]] KernelFit fit_kernel(std::span<const KernelPoint> points);

// One form, whether it is the best or not, without an error on points left out; nothing where the
// points are too few for it.
[[nodiscard]] std::optional<KernelFit> fit_kernel(std::span<const KernelPoint> points,
                                                  KernelForm form);

// Standard deviations of the constants of `fit`, by drawing the points anew around its law with
// their own noise. For where the covariance, which takes the law as linear, is not believed.
[[nodiscard]] std::vector<double> bootstrap_sd(std::span<const KernelPoint> points,
                                               const KernelFit& fit, std::size_t draws);

}  // namespace payoff
