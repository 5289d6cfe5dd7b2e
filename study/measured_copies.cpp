// SPDX-License-Identifier: Apache-2.0
#include "study/measured_copies.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace payoff {
namespace {

struct CopyLine {
  double start_us{};
  double gb_per_s{};
  double sd_us{};    // of the start
  double rate_sd{};  // relative; what the line misses the points by included
  FitRange<Bytes> bytes;
  std::string implementation;
};

std::optional<CopyLine> line_through(const std::vector<KernelPoint>& points) {
  const auto fit = fit_kernel(points, KernelForm::affine);
  const KernelConstant* start = fit ? determined_constant(*fit, "t0_us") : nullptr;
  const KernelConstant* rate = fit ? determined_constant(*fit, "b_gb_per_s") : nullptr;
  if (rate == nullptr || rate->value <= 0.0) {
    return std::nullopt;
  }
  const double sd = std::hypot(rate->sd / rate->value, fit->rms_error);
  return CopyLine{start != nullptr ? start->value : 0.0,
                  rate->value,
                  start != nullptr ? start->sd : 0.0,
                  sd,
                  fit->bytes,
                  {}};
}

// Cold ones where there are any, launched one by one: no graph queues copies of a codec.
std::optional<CopyLine> line_of(const KernelCalibration& calibration, std::string_view kernel) {
  for (const std::string_view state : {"cold", "hot"}) {
    for (const KernelLaw& law : calibration.laws) {
      if (law.kernel == kernel && law.state == state && law.mode == "stream") {
        std::optional<CopyLine> line = line_through(law.points);
        if (line) {
          line->implementation = law.implementation;
        }
        return line;
      }
    }
  }
  return std::nullopt;
}

constexpr double most_sd = 10.0;  // as a share of the value, that profiles may state

}  // namespace

MeasuredPart measured_copies(const KernelCalibration& calibration) {
  MeasuredPart part;
  std::vector<CopyLine> lines;
  for (const std::string_view kernel : {"host_to_device", "device_to_host"}) {
    if (const auto line = line_of(calibration, kernel)) {
      lines.push_back(*line);
      part.uses(std::string(kernel), line->implementation);
    }
  }
  if (lines.empty()) {
    return part;
  }
  const CopyLine& one = lines.front();
  const CopyLine& other = lines.back();
  const double start = 0.5 * (one.start_us + other.start_us);
  const double seconds_a_gb = 0.5 * (1.0 / one.gb_per_s + 1.0 / other.gb_per_s);
  // Half of the difference between the directions, and the uncertainty of the worse line.
  const double between = 0.5 * std::abs(1.0 / one.gb_per_s - 1.0 / other.gb_per_s) / seconds_a_gb;
  const double rate_sd = std::hypot(between, std::max(one.rate_sd, other.rate_sd));
  const double start_sd =
      std::hypot(0.5 * (one.start_us - other.start_us), std::max(one.sd_us, other.sd_us));
  const FitRange<Bytes> both{std::max(one.bytes.smallest, other.bytes.smallest),
                             std::min(one.bytes.largest, other.bytes.largest)};
  part.text = fmt::format(
      "copies:  # between the GPU and pinned memory of the host, either way\n"
      "  start: {}\n  rate: {}\n  measured: {}\n",
      sourced_text(start, " us", start > 0.0 ? std::min(start_sd / start, most_sd) : 1.0),
      sourced_text(1.0 / seconds_a_gb, " GB/s", rate_sd), range_text(both));
  return part;
}

}  // namespace payoff
