// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <random>
#include <vector>

#include "calibrate/kernel_fit.hpp"
#include "calibrate/sample_summary.hpp"

// Samples of a kernel of an invented GPU, whose truth is known: with noise, outliers and a clock
// that was held down.

namespace payoff::test {

inline constexpr double noise = 0.03;           // of one sample
inline constexpr std::size_t repetitions = 25;  // a point

// Not std::normal_distribution, whose numbers differ between libraries: the sum of 12 uniforms.
class Noise {
 public:
  explicit Noise(unsigned seed) : bits_(seed) {}
  double uniform() { return static_cast<double>(bits_() >> 5U) * 0x1.0p-27; }
  double normal() {
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) {
      sum += uniform();
    }
    return sum;
  }

 private:
  std::mt19937 bits_;
};

using Truth = std::function<double(const KernelPoint&)>;  // us

inline KernelPoint of_size(double megabytes) {
  KernelPoint point;
  point.bytes = megabytes * 1_MB;
  return point;
}

// 32 KiB to 2 GiB, as a copy is swept.
inline std::vector<KernelPoint> swept() {
  std::vector<KernelPoint> points;
  for (double size = 0.032768; size < 2200.0; size *= 2.0) {
    points.push_back(of_size(size));
  }
  return points;
}

struct Disturbance {
  double throttled{};  // share of samples that take 1.6 times as long
  double outliers{};   // share that takes up to 5 times as long
};

inline std::vector<KernelPoint> measured(std::vector<KernelPoint> points, const Truth& truth,
                                         Noise& random, const Disturbance& disturbance = {}) {
  for (KernelPoint& point : points) {
    std::vector<Seconds> samples;
    for (std::size_t i = 0; i < repetitions; ++i) {
      double factor = 1.0 + noise * random.normal();
      const double chance = random.uniform();
      if (chance < disturbance.throttled) {
        factor *= 1.6;
      } else if (chance < disturbance.throttled + disturbance.outliers) {
        factor *= 1.5 + 3.5 * random.uniform();
      }
      samples.push_back(factor * truth(point) * 1_us);
    }
    const SampleSummary summary = summarize_samples(samples, 0, 1.0);
    point.time = summary.median;
    // The width of 25 samples is known to a seventh: what all points share is known better.
    point.relative_sd = 1.2533 * noise / std::sqrt(static_cast<double>(summary.kept));
  }
  return points;
}

inline double copy_us(const KernelPoint& point) {  // 3 us, 5 TB/s to 50 MB, 3 TB/s beyond
  const double size = point.bytes / 1_MB;
  return 3.0 + std::min(size, 50.0) / 5.0 + std::max(0.0, size - 50.0) / 3.0;
}

}  // namespace payoff::test
