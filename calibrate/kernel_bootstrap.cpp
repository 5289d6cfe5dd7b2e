// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>

#include "calibrate/kernel_fit.hpp"
#include "model/split_mix.hpp"

namespace payoff {
namespace {

class Normals {
 public:
  double next() {
    constexpr double below_one = 0x1.0p-53;
    const double radius = std::sqrt(-2.0 * std::log((bits() + 1.0) * below_one));
    return radius * std::cos(2.0 * std::numbers::pi * bits() * below_one);
  }

 private:
  double bits() { return static_cast<double>(draws_.next() >> 11U); }

  SplitMix draws_{1};
};

}  // namespace

std::vector<double> bootstrap_sd(std::span<const KernelPoint> points, const KernelFit& fit,
                                 std::size_t draws) {
  Normals normals;
  std::vector<double> sums(fit.constants.size(), 0.0);
  std::vector<double> squares(fit.constants.size(), 0.0);
  std::vector<KernelPoint> drawn(points.begin(), points.end());
  for (std::size_t draw = 0; draw < draws; ++draw) {
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      constexpr double smallest = 0.05;  // a time stays positive
      const double factor = std::max(smallest, 1.0 + points[i].relative_sd * normals.next());
      drawn[i].time = factor * fit.predict(points[i]);
    }
    const std::optional<KernelFit> again = fit_kernel(drawn, fit.form);
    for (std::size_t j = 0; again && j < sums.size(); ++j) {
      const double deviation = again->constants[j].value - fit.constants[j].value;
      sums[j] += deviation;
      squares[j] += deviation * deviation;
    }
  }
  std::vector<double> sd;
  for (std::size_t j = 0; j < sums.size(); ++j) {
    const double mean = sums[j] / static_cast<double>(draws);
    sd.push_back(std::sqrt(std::max(0.0, squares[j] / static_cast<double>(draws) - mean * mean)));
  }
  return sd;
}

}  // namespace payoff
