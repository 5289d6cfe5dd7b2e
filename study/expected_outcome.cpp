// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "study/draws.hpp"
#include "study/next_measurement.hpp"

namespace payoff {
namespace {

constexpr double least_draws = 16;  // that a weighted sample must be worth
constexpr double widest_noise = 1e6;

// i in some base, mirrored at the point: evenly spread in (0, 1) (van der Corput).
double mirrored(std::size_t i, std::size_t base) {
  double result = 0;
  double digit = 1.0 / static_cast<double>(base);
  for (; i > 0; i /= base) {
    result += static_cast<double>(i % base) * digit;
    digit /= static_cast<double>(base);
  }
  return result;
}

// What the noise adds to quantity `q` where draw `i` is the truth, in standard deviations.
double noise_of(std::size_t i, std::size_t q) {
  constexpr std::array<std::size_t, 6> bases{2, 3, 5, 7, 11, 13};
  return normal_quantile(mirrored(i + 1, bases.at(q % bases.size())));
}

struct Weights {
  std::vector<double> each;
  double sum{};
};

// The speedups of the draws, and what is believed of them once the draws have weights.
class Speedups {
 public:
  Speedups(std::span<const double> values, double band) : values_(values), band_(band) {
    for (const double value : values) {
      logs_.push_back(std::log(value));
    }
  }

  // Of the logarithm.
  [[nodiscard]] double variance(const Weights& weights) const {
    double mean = 0;
    for (std::size_t i = 0; i < logs_.size(); ++i) {
      mean += logs_[i] * weights.each[i] / weights.sum;
    }
    double variance = 0;
    for (std::size_t i = 0; i < logs_.size(); ++i) {
      variance += (logs_[i] - mean) * (logs_[i] - mean) * weights.each[i] / weights.sum;
    }
    return variance;
  }

  [[nodiscard]] bool is_called(const Weights& weights) const {
    Comparison belief;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const double share = weights.each[i] / weights.sum;
      if (values_[i] > 1 + band_) {
        belief.probability += share;
      } else if (values_[i] >= 1 / (1 + band_)) {
        belief.probability_equal += share;
      }
    }
    return belief.verdict() != Verdict::too_close_to_call;
  }

 private:
  std::span<const double> values_;
  std::vector<double> logs_;
  double band_;
};

class Learning {
 public:
  explicit Learning(const PossibleMeasurement& measurement) : measurement_(measurement) {}

  // Of all draws but `truth`, when it has been measured.
  [[nodiscard]] Weights after(std::size_t truth, std::size_t draws) const {
    std::vector<double> noises;  // of each quantity
    for (std::size_t q = 0; q < measurement_.shown.size(); ++q) {
      noises.push_back(noise_of(truth, q));
    }
    double widening = 1;
    Weights weights = weighted(truth, noises, draws, widening);
    while (worth(weights) < std::min(least_draws, 0.5 * static_cast<double>(draws)) &&
           widening < widest_noise) {
      widening *= 1.5;
      weights = weighted(truth, noises, draws, widening);
    }
    return weights;
  }

 private:
  [[nodiscard]] Weights weighted(std::size_t truth, const std::vector<double>& noises,
                                 std::size_t draws, double widening) const {
    Weights weights{std::vector<double>(draws), 0};
    for (std::size_t i = 0; i < draws; ++i) {
      weights.each[i] = i == truth ? 0.0 : std::exp(-0.5 * distance(truth, i, noises, widening));
      weights.sum += weights.each[i];
    }
    return weights;
  }

  [[nodiscard]] double distance(std::size_t truth, std::size_t i, const std::vector<double>& noises,
                                double widening) const {
    double squares = 0;
    for (std::size_t q = 0; q < measurement_.shown.size(); ++q) {
      const double noise = measurement_.noise[q] * widening;
      const std::vector<double>& shown = measurement_.shown[q];
      const double off = (shown[i] - shown[truth]) / noise - noises[q] / widening;
      squares += off * off;
    }
    return squares;
  }

  // How many equally weighted draws the sample is worth (Kish).
  static double worth(const Weights& weights) {
    double squares = 0;
    for (const double weight : weights.each) {
      squares += weight * weight;
    }
    return squares > 0 ? weights.sum * weights.sum / squares : 0.0;
  }

  const PossibleMeasurement& measurement_;
};

}  // namespace

ExpectedOutcome expected_outcome(const PossibleMeasurement& measurement,
                                 std::span<const double> speedups, double band) {
  const std::size_t draws = speedups.size();
  if (draws < 3) {
    return {};
  }
  const Speedups known(speedups, band);
  const Learning learning(measurement);
  double variance = 0;
  double called = 0;
  for (std::size_t truth = 0; truth < draws; ++truth) {
    const Weights weights = learning.after(truth, draws);
    variance += known.variance(weights);
    called += known.is_called(weights) ? 1 : 0;
  }
  const auto count = static_cast<double>(draws);
  const double before = known.variance({std::vector<double>(draws, 1.0), count});
  return {before > 0 ? std::sqrt(variance / count / before) : 1.0, called / count};
}

}  // namespace payoff
