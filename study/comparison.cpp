// SPDX-License-Identifier: Apache-2.0
#include "study/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "study/draws.hpp"

namespace payoff {

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::pays:
      return "pays";
    case Verdict::no_difference:
      return "no difference";
    case Verdict::does_not:
      return "does not";
    case Verdict::too_close_to_call:
      return "too close to call";
    case Verdict::does_not_fit:
      return "does not fit";
  }
  return "";
}

// Less sure than nine to one is not called.
Verdict Comparison::verdict() const {
  if (probability >= 0.9) {
    return Verdict::pays;
  }
  if (probability_equal >= 0.9) {
    return Verdict::no_difference;
  }
  return probability <= 0.1 ? Verdict::does_not : Verdict::too_close_to_call;
}

Seconds Timing::quantile(double p) const {
  if (drawn.empty()) {
    return central;
  }
  std::vector<double> seconds;
  seconds.reserve(drawn.size());
  for (const Seconds time : drawn) {
    seconds.push_back(time / 1_s);
  }
  return payoff::quantile(std::move(seconds), p) * 1_s;
}

Comparison compare(const Timing& plan, const Timing& rival, double band) {
  Comparison result;
  result.speedup = rival.central / plan.central;
  std::vector<double> speedups;
  for (std::size_t i = 0; i < plan.drawn.size(); ++i) {
    speedups.push_back(rival.drawn[i] / plan.drawn[i]);
  }
  if (speedups.empty()) {
    speedups.push_back(result.speedup);
  }
  const auto share = [&speedups](double low, double high) {
    const auto between = std::count_if(speedups.begin(), speedups.end(),
                                       [&](double s) { return s > low && s <= high; });
    return static_cast<double>(between) / static_cast<double>(speedups.size());
  };
  const double highest = *std::max_element(speedups.begin(), speedups.end());
  result.probability = share(1.0 + band, highest);
  result.probability_equal = share(std::nextafter(1.0 / (1.0 + band), 0.0), 1.0 + band);
  result.speedup_low = quantile(speedups, 0.05);
  result.speedup_high = quantile(std::move(speedups), 0.95);
  return result;
}

}  // namespace payoff
