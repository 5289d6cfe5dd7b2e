// SPDX-License-Identifier: Apache-2.0
#include "study/unlikely_times.hpp"

#include <algorithm>
#include <functional>
#include <string>

#include <fmt/format.h>

#include "model/units_text.hpp"
#include "study/codec_samples.hpp"
#include "study/measured_part.hpp"
#include "study/measured_products.hpp"

namespace payoff {
namespace {

// All chosen: far beyond what GPUs do, and well within a factor of a thousand of it.
constexpr Seconds slow_launch = 50_us;
constexpr Seconds shortest_kernel = 0.3_us;
// Copies of fewer bytes are mostly latency.
constexpr Bandwidth slow_copy = 1_GBps;
constexpr Bytes large_copy = 16_MiB;
// No kernel that only streams is so slow once launches are told: chains of operators reach more.
constexpr double slow_stream = 0.2;
// Of products that take this long at the peak: shorter ones are mostly launches.
constexpr double slow_product = 0.02;
constexpr Seconds long_product = 20_us;

void for_each_time(const KernelCalibration& calibration,
                   const std::function<void(const SamplesPoint&, Seconds)>& use) {
  for (const SamplesFile& file : calibration.files) {
    for (const SamplesPoint& point : file.points) {
      const SampleSummary summary =
          summarize_samples(point.samples, point.discarded, point.clock_ratio);
      if (summary.refused.empty()) {
        use(point, summary.median);
      }
    }
  }
}

// The smallest of something, and how many points have less of it than is likely.
class Least {
 public:
  explicit Least(double likely) : likely_(likely) {}

  void add(const SamplesPoint& point, double value) {
    count_ += value < likely_ ? 1U : 0U;
    if (point_ == nullptr || value < value_) {
      point_ = &point;
      value_ = value;
    }
  }

  [[nodiscard]] const SamplesPoint& point() const { return *point_; }
  [[nodiscard]] double value() const { return value_; }
  [[nodiscard]] bool is_unlikely() const { return count_ > 0; }
  // Beside the one that is named; empty where it is the only one.
  [[nodiscard]] std::string others(const std::string& have) const {
    return count_ > 1 ? fmt::format("and {} more points {}", count_ - 1, have) : "";
  }

 private:
  double likely_;
  const SamplesPoint* point_ = nullptr;
  double value_{};
  std::size_t count_{};
};

double launches_of(const SamplesPoint& point) { return std::max(point.launches, 1.0); }

// Of what does nothing but stream: what its launches and the sheet's memory take of its time. What
// the cache keeps is faster yet.
double explained_share(const SamplesPoint& point, Seconds time, const Gpu& data) {
  return (launches_of(point) * slow_launch + point.traffic() / data.memory_bandwidth) / time;
}

bool only_streams(const SamplesPoint& point) {
  return point.kernel == "copy" || is_streaming(point);
}

}  // namespace

void warn_of_unlikely_times(const KernelCalibration& calibration, Diagnostics& diagnostics) {
  Least kernels(shortest_kernel / 1_s);
  Least launches(0.0);
  Least copies(slow_copy.si);
  for_each_time(calibration, [&](const SamplesPoint& point, Seconds time) {
    const Seconds each = time / launches_of(point);
    kernels.add(point, each / 1_s);
    if (point.kernel == "launch") {
      launches.add(point, each / 1_s);
    }
    if (point.family == "transfers" && point.traffic() >= large_copy) {
      copies.add(point, (point.traffic() / time).si);
    }
  });
  if (kernels.is_unlikely()) {
    diagnostics.warning(kernels.point().place,
                        fmt::format("{} takes {} a launch", title_of(kernels.point()),
                                    to_text(kernels.value() * 1_s)),
                        kernels.others("of less than 0.3 us"),
                        "are these times in microseconds? A kernel takes 1 us and more");
  }
  if (launches.value() * 1_s > slow_launch) {
    diagnostics.warning(launches.point().place,
                        fmt::format("a launch takes {}", to_text(launches.value() * 1_s)), "",
                        "are these times in microseconds? Launches take 2 to 10 us");
  }
  if (copies.is_unlikely()) {
    diagnostics.warning(
        copies.point().place,
        fmt::format("{} copies {}", title_of(copies.point()), to_text(Bandwidth{copies.value()})),
        copies.others("of less than 1 GB/s"),
        "are these times in microseconds, and these sizes in bytes?");
  }
}

void warn_of_slow_work(const KernelCalibration& calibration, const Gpu& data,
                       Diagnostics& diagnostics) {
  Least streams(slow_stream);
  double best = 0.0;
  const SamplesPoint* product = nullptr;
  for_each_time(calibration, [&](const SamplesPoint& point, Seconds time) {
    if (only_streams(point) && data.memory_bandwidth > Bandwidth{}) {
      streams.add(point, explained_share(point, time, data));
    }
    if (const FlopRate peak = product_peak(point, data);
        peak > FlopRate{} && point.flops / peak > long_product) {
      const double share = point.flops / time / peak;
      product = share > best ? &point : product;
      best = std::max(best, share);
    }
  });
  if (streams.is_unlikely()) {
    diagnostics.warning(streams.point().place,
                        fmt::format("{} takes {:.3g} times what launches and the memory of {} do",
                                    title_of(streams.point()), 1.0 / streams.value(), data.name),
                        streams.others("of more than five times"),
                        "are these times in microseconds, and of this GPU?");
  }
  if (product != nullptr && best < slow_product) {
    diagnostics.warning(
        product->place,
        fmt::format("no product is faster than {}, at {} of the arithmetic peak of {}",
                    title_of(*product), percent_text(best), data.name),
        "", "are these times in microseconds, and of this GPU?");
  }
}

}  // namespace payoff
