// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <type_traits>
#include <vector>

// Where along one axis a gain is positive, as a set of intervals: the axis is examined at given
// points, every change of sign between two of them is bracketed by bisection, and between three
// points whose middle one is nearest to zero the extreme is sought, so that a narrow pay-off
// between two points is found where the gain is smooth there. What a jump hides between two points
// is found only if the caller names the jump: breakpoints belong into the points.

namespace payoff {

template <typename T>
struct Interval {
  T low{};
  T high{};
  bool open_low{};   // pays at the lower end of what was examined; below it is unknown
  bool open_high{};  // the same above

  bool operator==(const Interval&) const = default;
};

template <typename T>
struct IntervalSet {
  std::vector<Interval<T>> intervals;  // ascending, disjoint
  T scanned_low{};
  T scanned_high{};
  bool no_difference{};  // at no point examined does it gain or lose anything to speak of

  // Both speak of the scanned range only.
  [[nodiscard]] bool never() const { return intervals.empty(); }
  [[nodiscard]] bool always() const {
    return intervals.size() == 1 && intervals.front().open_low && intervals.front().open_high;
  }
  [[nodiscard]] bool contains(T x) const {
    return std::any_of(intervals.begin(), intervals.end(), [x](const Interval<T>& interval) {
      return x >= interval.low && x <= interval.high;
    });
  }
};

// The same set on an axis with a unit (SI values become quantities) or of counts.
template <typename T>
[[nodiscard]] IntervalSet<T> on_axis(const IntervalSet<double>& set) {
  const auto value = [](double x) {
    if constexpr (std::is_arithmetic_v<T>) {
      return static_cast<T>(x);
    } else {
      return T{x};
    }
  };
  IntervalSet<T> result{{}, value(set.scanned_low), value(set.scanned_high), set.no_difference};
  for (const Interval<double>& i : set.intervals) {
    result.intervals.push_back({value(i.low), value(i.high), i.open_low, i.open_high});
  }
  return result;
}

// The gain at a point of the axis; only where it is > 0 does it pay.
using Gain = std::function<double(double)>;

// `points`: positive, strictly ascending, at least two. `resolution`: relative width of a bracket.
[[nodiscard]] IntervalSet<double> find_payoff_set(const Gain& gain,
                                                  const std::vector<double>& points,
                                                  double resolution = 1e-6);

// On whole numbers: brackets by halving, then every number within `neighbourhood` of a change, so
// that the teeth of a node boundary are seen. Ends are the last whole numbers that pay.
[[nodiscard]] IntervalSet<double> find_integer_payoff_set(const Gain& gain,
                                                          const std::vector<int>& points,
                                                          int neighbourhood = 16);

// `count` points from `low` to `high`, equally spaced in the logarithm, ends exact.
[[nodiscard]] std::vector<double> log_spaced(double low, double high, int count);
// The same, about so many for each factor of ten, and at least both ends.
[[nodiscard]] std::vector<double> log_spaced_by_decade(double low, double high, int points);

// Adds to `points` both sides of every place where `signature` changes between two of them (an
// algorithm switch, a node boundary), bracketed to `resolution`.
using Signature = std::function<std::vector<int>(double)>;
[[nodiscard]] std::vector<double> with_breakpoints(const std::vector<double>& points,
                                                   const Signature& signature,
                                                   double resolution = 1e-9);

}  // namespace payoff
