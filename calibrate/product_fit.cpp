// SPDX-License-Identifier: Apache-2.0
#include "calibrate/product_fit.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>
#include <set>
#include <utility>

#include "calibrate/least_squares.hpp"

namespace payoff {
namespace {

using Timings = std::vector<ProductTiming>;
using Shares = std::map<Precision, double>;

// What is assumed of it where nothing was measured (calibrate/compute_priors.cpp): a fit that knows
// it no better leaves it as it is.
constexpr double depth_half_sd = 0.5;
constexpr double least_depth_half = 1.0;
constexpr double most_depth_half = 4096.0;

Gpu with_depth(Gpu gpu, double depth_half) {
  gpu.law.depth_half = depth_half;
  return gpu;
}

Seconds predicted_time(const ProductTiming& timing, double share, const Gpu& gpu) {
  const Tiling tiling = tiling_of(timing.product, share * gpu.peak[timing.precision], gpu);
  return std::max(tiling.time, timing.traffic / reached_bandwidth(gpu)) + gpu.law.launch;
}

double weight_of(const ProductTiming& timing, double discrepancy) {
  return 1.0 / (timing.relative_sd * timing.relative_sd + discrepancy * discrepancy);
}

double weighted_error(const Timings& timings, double share, const Gpu& gpu, double discrepancy) {
  double sum = 0.0;
  for (const ProductTiming& timing : timings) {
    const double error = predicted_time(timing, share, gpu) / timing.time - 1.0;
    sum += weight_of(timing, discrepancy) * error * error;
  }
  return sum;
}

// The share of the products that are arithmetic at `share`, by linear least squares: their time is
// a part that goes with its inverse and one that does not. Zero where all are traffic.
double next_share(const Timings& timings, double share, const Gpu& gpu, double discrepancy) {
  double squares = 0.0;
  double products = 0.0;
  for (const ProductTiming& timing : timings) {
    const Tiling tiling = tiling_of(timing.product, share * gpu.peak[timing.precision], gpu);
    if (tiling.time < timing.traffic / reached_bandwidth(gpu)) {
      continue;
    }
    const Seconds fixed = gpu.law.launch + tiling.partial_sums / reached_bandwidth(gpu);
    const double slope = share * ((tiling.time + gpu.law.launch - fixed) / timing.time);
    const double weight = weight_of(timing, discrepancy);
    squares += weight * slope * slope;
    products += weight * slope * (1.0 - fixed / timing.time);
  }
  return products > 0.0 ? squares / products : 0.0;
}

// What the fastest product reaches at least.
double reached_share(const Timings& timings, const Gpu& gpu) {
  double most = 0.0;
  for (const ProductTiming& timing : timings) {
    const Product& p = timing.product;
    const Flops flops{2.0 * p.batch * p.rows * p.columns * p.depth};
    most = std::max(most, flops / timing.time / gpu.peak[timing.precision]);
  }
  return most;
}

// Whether the points would be missed without any arithmetic: traffic that takes as long as a slow
// product would tells nothing of how fast it is.
bool tells_share(const Timings& timings, double error, const Gpu& gpu, double discrepancy) {
  constexpr double without_end = 1e6;
  constexpr double three_deviations = 9.0;
  return weighted_error(timings, without_end, gpu, discrepancy) > error + three_deviations;
}

struct BestShare {
  double share{};
  double error{std::numeric_limits<double>::infinity()};
};

BestShare best_share(const Timings& timings, const Gpu& gpu, double discrepancy) {
  constexpr int most_steps = 30;
  constexpr double settled = 1e-9;
  BestShare best;
  double share = reached_share(timings, gpu);
  for (int step = 0; step < most_steps && share > 0.0; ++step) {
    const double error = weighted_error(timings, share, gpu, discrepancy);
    if (error < best.error) {
      best = {share, error};
    }
    const double next = next_share(timings, share, gpu, discrepancy);
    if (std::abs(next - share) <= settled * share) {
      break;
    }
    share = next;
  }
  return best;
}

struct ProductSolution {
  double depth_half{};
  Shares shares;
  std::set<Precision> told;
  double error{std::numeric_limits<double>::infinity()};
};

class ProductSearch {
 public:
  ProductSearch(std::span<const ProductTiming> timings, const Gpu& gpu) : gpu_(gpu) {
    for (const ProductTiming& timing : timings) {
      by_precision_[timing.precision].push_back(timing);
    }
  }

  [[nodiscard]] ProductSolution at(double depth_half, double discrepancy) const {
    const Gpu gpu = with_depth(gpu_, depth_half);
    ProductSolution solution{depth_half, {}, {}, 0.0};
    for (const auto& [precision, timings] : by_precision_) {
      const BestShare best = best_share(timings, gpu, discrepancy);
      solution.shares[precision] = best.share;
      solution.error += best.error;
      if (tells_share(timings, best.error, gpu, discrepancy)) {
        solution.told.insert(precision);
      }
    }
    return solution;
  }

  // Between the neighbours of the best of some depths: waves make the error of a depth uneven.
  [[nodiscard]] ProductSolution best(double discrepancy) const {
    constexpr int depths = 24;
    const double step = std::log(most_depth_half / least_depth_half) / depths;
    ProductSolution best;
    for (int i = 0; i <= depths; ++i) {
      keep_better(at(least_depth_half * std::exp(i * step), discrepancy), best);
    }
    double low = std::log(best.depth_half) - step;
    double high = std::log(best.depth_half) + step;
    constexpr double golden = 0.6180339887498949;
    constexpr int steps = 30;
    for (int i = 0; i < steps; ++i) {
      ProductSolution left = at(std::exp(high - golden * (high - low)), discrepancy);
      ProductSolution right = at(std::exp(low + golden * (high - low)), discrepancy);
      const bool is_left = left.error <= right.error;
      (is_left ? high : low) = std::log((is_left ? right : left).depth_half);
      keep_better(std::move(is_left ? left : right), best);
    }
    return best;
  }

 private:
  static void keep_better(ProductSolution found, ProductSolution& best) {
    if (found.error < best.error) {
      best = std::move(found);
    }
  }

  const Gpu& gpu_;
  std::map<Precision, Timings> by_precision_;
};

std::vector<double> errors_of(std::span<const ProductTiming> timings,
                              const ProductSolution& solution, const Gpu& gpu) {
  const Gpu with = with_depth(gpu, solution.depth_half);
  std::vector<double> errors;
  for (const ProductTiming& timing : timings) {
    const double share = solution.shares.at(timing.precision);
    errors.push_back(predicted_time(timing, share, with) / timing.time - 1.0);
  }
  return errors;
}

// What the law misses its points by, beyond their noise.
double discrepancy_of(std::span<const ProductTiming> timings, const std::vector<double>& errors,
                      std::size_t unknowns) {
  double squares = 0.0;
  double noise = 0.0;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    squares += errors[i] * errors[i];
    noise += timings[i].relative_sd * timings[i].relative_sd;
  }
  const auto count = static_cast<double>(errors.size());
  const double freedom = std::max(1.0, count - static_cast<double>(unknowns));
  return std::sqrt(std::max(0.0, squares / freedom - noise / count));
}

// How relative changes of the depth and of the shares move the times, in this order; as a last row
// what is assumed of the depth.
LinearSystem changes_of(std::span<const ProductTiming> timings, const ProductSolution& solution,
                        const Gpu& gpu, double discrepancy, bool with_prior) {
  constexpr double step = 1e-4;
  LinearSystem system(1 + solution.shares.size());
  const auto slope = [](Seconds more, Seconds less) {
    return std::log(more / less) / (2.0 * step);
  };
  for (const ProductTiming& timing : timings) {
    const auto place = solution.shares.find(timing.precision);
    const auto at = [&](double depth_factor, double share_factor) {
      return predicted_time(timing, share_factor * place->second,
                            with_depth(gpu, depth_factor * solution.depth_half));
    };
    std::vector<double> row(system.columns(), 0.0);
    row.front() = slope(at(1.0 + step, 1.0), at(1.0 - step, 1.0));
    row[1 + static_cast<std::size_t>(std::distance(solution.shares.begin(), place))] =
        slope(at(1.0, 1.0 + step), at(1.0, 1.0 - step));
    system.add_row(row, 0.0, std::sqrt(weight_of(timing, discrepancy)));
  }
  if (with_prior) {
    std::vector<double> row(system.columns(), 0.0);
    row.front() = 1.0;
    system.add_row(row, 0.0, 1.0 / depth_half_sd);
  }
  return system;
}

// Relative, of the depth and the shares; nothing where the timings do not tell one of them.
std::vector<std::optional<double>> deviations_of(const LinearSystem& system, double widening) {
  const LeastSquares squares = solve_least_squares(system);
  std::vector<std::optional<double>> deviations;
  for (std::size_t j = 0; j < system.columns(); ++j) {
    const bool is_told = std::find(squares.undetermined.begin(), squares.undetermined.end(), j) ==
                         squares.undetermined.end();
    deviations.push_back(is_told ? std::optional(std::sqrt(widening * squares.covariance[j][j]))
                                 : std::nullopt);
  }
  return deviations;
}

double widening_of(const ProductSolution& solution, std::size_t timings, std::size_t unknowns) {
  const double freedom =
      std::max(1.0, static_cast<double>(timings) - static_cast<double>(unknowns));
  return std::max(1.0, solution.error / freedom);
}

}  // namespace

ProductFit fit_products(std::span<const ProductTiming> timings, const Gpu& gpu) {
  const ProductSearch search(timings, gpu);
  ProductSolution solution = search.best(0.0);
  const std::size_t unknowns = 1 + solution.shares.size();
  const double discrepancy = discrepancy_of(timings, errors_of(timings, solution, gpu), unknowns);
  solution = search.best(discrepancy);
  // With what is assumed beside the points: half of what is known is the points' where the
  // deviation has shrunk by the square root of two.
  const bool is_depth_told =
      deviations_of(changes_of(timings, solution, gpu, discrepancy, true), 1.0).front().value() <
          depth_half_sd / std::numbers::sqrt2 &&
      solution.depth_half > least_depth_half && !solution.told.empty();
  if (!is_depth_told) {
    solution = search.at(gpu.law.depth_half, discrepancy);
  }
  const std::vector<std::optional<double>> deviations =
      deviations_of(changes_of(timings, solution, gpu, discrepancy, !is_depth_told),
                    widening_of(solution, timings.size(), unknowns));
  ProductFit fit;
  if (is_depth_told) {
    fit.depth_half = ProductShare{solution.depth_half, deviations.front().value()};
  }
  std::size_t column = 0;
  for (const auto& [precision, share] : solution.shares) {
    const std::optional<double> deviation = deviations[++column];
    if (solution.told.contains(precision) && deviation && *deviation > 0.0 && *deviation < 1.0) {
      fit.efficiency[precision] = {share, *deviation};
    }
  }
  fit.errors = errors_of(timings, solution, gpu);
  for (const double error : fit.errors) {
    fit.rms_error += error * error / static_cast<double>(fit.errors.size());
    fit.largest_error = std::max(fit.largest_error, std::abs(error));
  }
  fit.rms_error = std::sqrt(fit.rms_error);
  return fit;
}

}  // namespace payoff
