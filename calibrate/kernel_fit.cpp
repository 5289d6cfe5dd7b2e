// SPDX-License-Identifier: Apache-2.0
#include "calibrate/kernel_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "calibrate/kernel_form.hpp"
#include "calibrate/least_squares.hpp"

namespace payoff {
namespace {

using kernel_detail::Regime;

using Points = std::vector<KernelPoint>;

struct KernelSolution {
  Regime regime;
  LeastSquares squares;
};

LinearSystem system_of(std::span<const KernelPoint> points, KernelForm form, const Regime& regime) {
  LinearSystem system(kernel_detail::coefficient_names(form).size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double time = points[i].time / 1_us;
    system.add_row(kernel_detail::row_of(points[i], form, regime, i), time,
                   1.0 / (time * points[i].relative_sd));
  }
  return system;
}

KernelSolution solve(std::span<const KernelPoint> points, KernelForm form, Regime regime) {
  LeastSquares squares = solve_non_negative(system_of(points, form, regime));
  return {std::move(regime), std::move(squares)};
}

std::vector<Bytes> sorted_sizes(std::span<const KernelPoint> points) {
  std::vector<Bytes> sizes;
  for (const KernelPoint& point : points) {
    sizes.push_back(point.bytes);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

// Beyond the second size and before the last but one, so that either side has two.
KernelSolution with_best_knee(std::span<const KernelPoint> points, bool exactly) {
  const std::vector<Bytes> sizes = sorted_sizes(points);
  const auto at = [&](double log_knee) {
    return solve(points, KernelForm::two_bandwidths, {Bytes{std::exp(log_knee)}, {}});
  };
  KernelSolution best;
  best.squares.squared_error = std::numeric_limits<double>::infinity();
  double low = 0.0;
  double high = 0.0;
  for (std::size_t i = 1; i + 2 < sizes.size(); ++i) {
    const double begin = std::log(sizes[i].si);
    const double end = std::log(sizes[i + 1].si);
    for (const double share : {0.0, 0.5}) {
      KernelSolution found = at(begin + share * (end - begin));
      if (found.squares.squared_error < best.squares.squared_error) {
        best = std::move(found);
        low = begin + (share - 0.5) * (end - begin);
        high = begin + (share + 0.5) * (end - begin);
      }
    }
  }
  constexpr double golden = 0.6180339887498949;
  const int steps = exactly ? 25 : 8;
  for (int step = 0; step < steps; ++step) {
    KernelSolution left = at(high - golden * (high - low));
    KernelSolution right = at(low + golden * (high - low));
    const bool is_left = left.squares.squared_error <= right.squares.squared_error;
    (is_left ? high : low) = std::log((is_left ? right : left).regime.knee.si);
    KernelSolution& better = is_left ? left : right;
    if (better.squares.squared_error < best.squares.squared_error) {
      best = std::move(better);
    }
  }
  return best;
}

// Of the law itself, which puts every point on its own side whatever the regime says.
double squared_error_of_law(std::span<const KernelPoint> points, KernelForm form,
                            const std::vector<double>& values) {
  double sum = 0.0;
  for (const KernelPoint& point : points) {
    const double error = kernel_detail::time_of(point, form, values, {}) / point.time - 1.0;
    sum += error * error / (point.relative_sd * point.relative_sd);
  }
  return sum;
}

// Which side of the maximum a point is on follows from the solution, and the other way round: from
// the intensity at which the sides would meet, every one of the points'. A regime is worth what the
// law of its solution is: one that fits points on a side where that law does not put them is none.
KernelSolution with_best_sides(std::span<const KernelPoint> points) {
  std::vector<double> intensities{0.0};
  for (const KernelPoint& point : points) {
    intensities.push_back(point.flops.si / std::max(point.bytes.si, 1.0));
  }
  std::sort(intensities.begin(), intensities.end());
  intensities.erase(std::unique(intensities.begin(), intensities.end()), intensities.end());
  KernelSolution best;
  best.squares.squared_error = std::numeric_limits<double>::infinity();
  for (const double highest_of_memory : intensities) {
    Regime regime;
    for (const KernelPoint& point : points) {
      regime.arithmetic_bound.push_back(point.flops.si / std::max(point.bytes.si, 1.0) >
                                        highest_of_memory);
    }
    KernelSolution found = solve(points, KernelForm::product, std::move(regime));
    found.squares.squared_error =
        squared_error_of_law(points, KernelForm::product, found.squares.values);
    if (found.squares.squared_error < best.squares.squared_error) {
      best = std::move(found);
    }
  }
  return best;
}

KernelSolution solve_form(std::span<const KernelPoint> points, KernelForm form, bool exactly) {
  if (form == KernelForm::two_bandwidths) {
    return with_best_knee(points, exactly);
  }
  return form == KernelForm::product ? with_best_sides(points) : solve(points, form, {});
}

double error_of(const KernelPoint& point, KernelForm form, const KernelSolution& solution) {
  return kernel_detail::time_of(point, form, solution.squares.values, solution.regime.knee) /
             point.time -
         1.0;
}

double rms(const std::vector<double>& errors) {
  double sum = 0.0;
  for (const double error : errors) {
    sum += error * error;
  }
  return std::sqrt(sum / static_cast<double>(errors.size()));
}

double left_out_error(std::span<const KernelPoint> points, KernelForm form) {
  std::vector<double> errors;
  for (std::size_t left_out = 0; left_out < points.size(); ++left_out) {
    Points rest(points.begin(), points.end());
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(left_out));
    if (rest.empty()) {
      return std::numeric_limits<double>::infinity();
    }
    errors.push_back(error_of(points[left_out], form, solve_form(rest, form, false)));
  }
  return rms(errors);
}

// The knee moves times beyond it: as one more column it widens what the others are told.
LeastSquares with_knee_as_column(std::span<const KernelPoint> points,
                                 const KernelSolution& solution) {
  LinearSystem system(4);
  const double slope = solution.squares.values[1] - solution.squares.values[2];
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::vector<double> row =
        kernel_detail::row_of(points[i], KernelForm::two_bandwidths, solution.regime, i);
    row.push_back(points[i].bytes > solution.regime.knee ? slope : 0.0);
    const double time = points[i].time / 1_us;
    system.add_row(row, time, 1.0 / (time * points[i].relative_sd));
  }
  return solve_least_squares(system);
}

// Of all coefficients, also where one came to lie at its bound: taken as known there, it would have
// no interval, and the truth beside the bound would never be held. The columns that the points do
// not tell apart have none either way.
std::vector<std::vector<double>> covariance_of(std::span<const KernelPoint> points, KernelForm form,
                                               const KernelSolution& solution) {
  if (form == KernelForm::two_bandwidths) {
    return with_knee_as_column(points, solution).covariance;
  }
  const LinearSystem system = system_of(points, form, solution.regime);
  LeastSquares unbounded = solve_least_squares(system);
  if (unbounded.rank == system.columns()) {
    return std::move(unbounded.covariance);
  }
  return solution.squares.covariance;
}

void describe(std::span<const KernelPoint> points, const KernelSolution& solution, KernelFit& fit) {
  for (const KernelPoint& point : points) {
    fit.errors.push_back(error_of(point, fit.form, solution));
    fit.largest_error = std::max(fit.largest_error, std::abs(fit.errors.back()));
    fit.bytes.include(point.bytes);
    fit.flops.include(point.flops);
    fit.accesses.include(point.random_accesses);
    fit.ratios.include(point.ratio);
    fit.ranks.include(point.rank);
  }
  fit.rms_error = rms(fit.errors);
  fit.coefficients = kernel_detail::coefficient_names(fit.form);
  fit.values = solution.squares.values;
  const bool has_knee = fit.form == KernelForm::two_bandwidths;
  fit.covariance = covariance_of(points, fit.form, solution);
  const std::size_t unknowns = fit.values.size() + (has_knee ? 1 : 0);
  const auto freedom = static_cast<double>(std::max(points.size(), unknowns + 1) - unknowns);
  const double widening = std::max(1.0, solution.squares.squared_error / freedom);
  for (auto& row : fit.covariance) {
    for (double& cell : row) {
      cell *= widening;
    }
  }
  for (std::size_t j = 0; j < fit.values.size(); ++j) {
    const double sd = std::sqrt(fit.covariance[j][j]);
    fit.constants.push_back(kernel_detail::constant_of(fit.form, j, fit.values[j], sd));
  }
  if (has_knee) {
    fit.knee = solution.regime.knee;
    fit.constants.push_back(
        {"knee_mb", solution.regime.knee / 1_MB, std::sqrt(fit.covariance[3][3])});
    fit.coefficients.emplace_back("knee");
  }
}

// Not determined: what the rows cannot tell apart, and what they only say is small.
void mark_undetermined(const KernelSolution& solution, KernelFit& fit) {
  for (const std::size_t column : solution.squares.undetermined) {
    fit.constants[column].determined = false;
  }
  for (KernelConstant& constant : fit.constants) {
    constant.determined = constant.determined && constant.value > 0.0 && constant.sd > 0.0 &&
                          constant.sd < constant.value;
  }
}

constexpr std::array all_forms{
    KernelForm::constant, KernelForm::affine,        KernelForm::two_bandwidths,
    KernelForm::select,   KernelForm::scatter,       KernelForm::product,
    KernelForm::columns,  KernelForm::factorization, KernelForm::chain};

}  // namespace

const KernelConstant* determined_constant(const KernelFit& fit, std::string_view name) {
  const auto found = std::find_if(fit.constants.begin(), fit.constants.end(),
                                  [&](const KernelConstant& each) { return each.name == name; });
  return found == fit.constants.end() || !found->determined ? nullptr : &*found;
}

Seconds KernelFit::predict(const KernelPoint& point) const {
  return kernel_detail::time_of(point, form, values, knee.value_or(Bytes{}));
}

bool KernelFit::covers(const KernelPoint& point) const {
  const auto holds = [](const auto& range, const auto& amount) {
    return amount >= range.smallest && amount <= range.largest;
  };
  return holds(bytes, point.bytes) && holds(flops, point.flops) &&
         holds(accesses, point.random_accesses) && holds(ratios, point.ratio) &&
         holds(ranks, point.rank);
}

std::optional<KernelFit> fit_kernel(std::span<const KernelPoint> points, KernelForm form) {
  if (!kernel_detail::can_carry(points, form)) {
    return std::nullopt;
  }
  const KernelSolution solution = solve_form(points, form, true);
  KernelFit fit;
  fit.form = form;
  describe(points, solution, fit);
  mark_undetermined(solution, fit);
  return fit;
}

KernelFit fit_kernel(std::span<const KernelPoint> points) {
  constexpr double as_good = 1.1;
  std::vector<KernelFit> fits;
  double best = std::numeric_limits<double>::infinity();
  for (const KernelForm form : all_forms) {
    auto fit = kernel_detail::can_choose(points, form) ? fit_kernel(points, form) : std::nullopt;
    if (fit) {
      fit->left_out_error = left_out_error(points, form);
      best = std::min(best, *fit->left_out_error);
      fits.push_back(std::move(*fit));
    }
  }
  const auto chosen = std::find_if(fits.begin(), fits.end(), [&](const KernelFit& fit) {
    return *fit.left_out_error <= as_good * best;
  });
  return chosen == fits.end() ? fits.front() : *chosen;
}

}  // namespace payoff
