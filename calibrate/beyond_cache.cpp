// SPDX-License-Identifier: Apache-2.0
#include "calibrate/beyond_cache.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <vector>

#include "calibrate/least_squares.hpp"

namespace payoff {
namespace {

constexpr double least_kept_share = 0.5;  // of the cache's size

std::size_t count_of_sizes(std::span<const KernelPoint> points) {
  std::set<double> sizes;
  for (const KernelPoint& point : points) {
    sizes.insert(point.bytes.si);
  }
  return sizes.size();
}

// The inverse of the last coefficient, in us a MB. The covariance is widened where the points miss
// the line by more than their noise. Starts may be negative: the line that memory's bandwidth
// continues begins below the launch where the cache is the faster one.
std::optional<BeyondCache> last_bandwidth(const LinearSystem& system) {
  const LeastSquares solution = solve_least_squares(system);
  const std::size_t last = system.columns() - 1;
  const double slope = solution.values[last];
  if (solution.rank < system.columns() || slope <= 0.0) {
    return std::nullopt;
  }
  const std::size_t freedom = system.rows() - system.columns();
  const double widening =
      freedom == 0 ? 1.0 : std::max(1.0, solution.squared_error / static_cast<double>(freedom));
  const double sd = std::sqrt(solution.covariance[last][last] * widening);
  const double rate = 1e3 / slope;  // 1 MB/us is 1,000 GB/s
  return BeyondCache{rate, rate * sd / slope};
}

std::optional<BeyondCache> slope_of(std::span<const KernelPoint> beyond) {
  LinearSystem system(2);
  for (const KernelPoint& point : beyond) {
    const double time = point.time / 1_us;
    system.add_row(std::vector{1.0, point.bytes / 1_MB}, time, 1.0 / (time * point.relative_sd));
  }
  return last_bandwidth(system);
}

std::optional<BeyondCache> split_at(std::span<const KernelPoint> points, Bytes kept) {
  LinearSystem system(3);
  for (const KernelPoint& point : points) {
    const double time = point.time / 1_us;
    const Bytes inside = std::min(point.bytes, kept);
    system.add_row(std::vector{1.0, inside / 1_MB, (point.bytes - inside) / 1_MB}, time,
                   1.0 / (time * point.relative_sd));
  }
  return last_bandwidth(system);
}

}  // namespace

std::optional<BeyondCache> bandwidth_beyond(std::span<const KernelPoint> points, Bytes cache) {
  constexpr std::size_t fewest_of_a_line = 2;
  std::vector<KernelPoint> beyond;
  std::vector<KernelPoint> inside;
  for (const KernelPoint& point : points) {
    (point.bytes > cache ? beyond : inside).push_back(point);
  }
  if (count_of_sizes(beyond) >= fewest_of_a_line) {
    return slope_of(beyond);
  }
  if (beyond.empty() || count_of_sizes(inside) < fewest_of_a_line) {
    return std::nullopt;
  }
  std::optional<BeyondCache> all_kept = split_at(points, cache);
  const auto half_kept = split_at(points, least_kept_share * cache);
  if (!all_kept || !half_kept) {
    return std::nullopt;
  }
  all_kept->sd = std::hypot(all_kept->sd, all_kept->gb_per_s - half_kept->gb_per_s);
  return all_kept;
}

}  // namespace payoff
