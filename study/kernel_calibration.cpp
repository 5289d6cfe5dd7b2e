// SPDX-License-Identifier: Apache-2.0
#include "study/kernel_calibration.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "model/units_text.hpp"
#include "study/kernel_point.hpp"

namespace payoff {
namespace {

constexpr std::array<std::string_view, 10> size_parameters{
    "elements", "rows", "columns", "m", "n", "k", "rank", "ratio", "batch", "size"};

// Beyond the noise of its samples a time is not the same from run to run.
constexpr double least_relative_sd = 1e-3;

// A time that stands for many is worth as much as these.
SampleSummary summary_of(const SamplesPoint& point) {
  SampleSummary summary = summarize_samples(point.samples, point.discarded, point.clock_ratio);
  if (point.stands_for && summary.kept > 0) {
    summary.kept = point.stands_for->count;
    summary.noise = std::max(summary.noise, point.stands_for->noise);
  }
  return summary;
}

// A batch of products is a larger one. Of kernels that work rank by rank, as PowerSGD's steps do,
// the matrices of a batch go side by side, each at the pace of its columns: that is another law.
bool is_batch_of_steps(const SamplesPoint& point, const std::string& name, double value) {
  return name == "batch" && value != 1.0 && point.parameters.contains("rank");
}

KernelLaw law_around(const SamplesPoint& point) {
  KernelLaw law{
      point.kernel, point.implementation, point.state, point.mode, point.input, {}, {}, {}, {}, {}};
  for (const auto& [name, value] : point.parameters) {
    if (is_batch_of_steps(point, name, value) ||
        std::find(size_parameters.begin(), size_parameters.end(), name) == size_parameters.end()) {
      law.parameters[name] = value;
    }
  }
  return law;
}

// The width of a few samples is itself uncertain: each point's is averaged with the law's.
void set_relative_sd(KernelLaw& law) {
  double sum = 0.0;
  for (const SampleSummary& summary : law.summaries) {
    sum += summary.noise * summary.noise;
  }
  const double shared = sum / static_cast<double>(law.summaries.size());
  for (std::size_t i = 0; i < law.points.size(); ++i) {
    const SampleSummary& summary = law.summaries[i];
    const double variance = 0.5 * (shared + summary.noise * summary.noise);
    law.points[i].relative_sd =
        std::max(least_relative_sd,
                 std::sqrt(std::numbers::pi / 2.0 * variance / static_cast<double>(summary.kept)));
  }
}

// Clocks that differ by less are one: what copies of one run may differ by as well.
bool is_one_clock(double lower, double higher) {
  return higher <= (1.0 + noticeable_drift) * lower;
}

// The lowest of the clocks that most points have; of as many the higher.
double usual_clock(std::vector<double> clocks) {
  std::sort(clocks.begin(), clocks.end());
  double usual = clocks.front();
  std::ptrdiff_t most = 0;
  for (auto first = clocks.begin(); first != clocks.end(); ++first) {
    const auto last = std::partition_point(
        first, clocks.end(), [&](double clock) { return is_one_clock(*first, clock); });
    if (last - first >= most) {
      most = last - first;
      usual = *first;
    }
  }
  return usual;
}

double drift_of(const SamplesFile& file) {
  std::vector<Bandwidth> copies;
  copies.reserve(file.anchors.size());
  for (const SamplesAnchor& anchor : file.anchors) {
    copies.push_back(anchor.copy);
  }
  return drift_of(copies);
}

void check_drift(const SamplesFile& file, double drift, Diagnostics& diagnostics) {
  const std::string message =
      fmt::format("{}: copies of one run differ by {:.0f} %", file.file, 100.0 * drift);
  if (drift > most_drift) {
    diagnostics.error(std::nullopt, message, "",
                      "the device was throttled or shared: times of its beginning and of its end "
                      "cannot be compared; measure again");
  } else if (drift > noticeable_drift) {
    diagnostics.warning(std::nullopt, message);
  }
}

// As much as copies of one run may differ by: what an event adds to a copy beyond any cache is far
// less.
void check_timer(const SamplesFile& file, Diagnostics& diagnostics) {
  if (!file.timer || std::abs(file.timer->error()) <= noticeable_drift) {
    return;
  }
  const std::string message = fmt::format(
      "{}: by the events that samples are timed with a copy takes {:.0f} % {} than by the driver's "
      "records",
      file.file, 100.0 * std::abs(file.timer->error()),
      file.timer->error() > 0.0 ? "longer" : "less");
  if (std::abs(file.timer->error()) > most_drift) {
    diagnostics.error(file.timer->place, message, "",
                      "its times are not those of kernels: another program shared the device, or "
                      "a tracer was at work; measure again");
  } else {
    diagnostics.warning(file.timer->place, message);
  }
}

// A multiprocessor takes 128 bytes a clock from its own cache, and less from the one that all
// share; no GPU's clock is beyond 3 GHz.
Bandwidth fastest_cache(const SamplesDevice& device) {
  constexpr Bytes of_a_clock = 128_B;
  return static_cast<double>(device.multiprocessors) * (of_a_clock / (1.0_s / 3e9));
}

// Empty where a GPU can move so much in that time.
std::string why_impossible(const SamplesPoint& point, Seconds time, const SamplesDevice& device) {
  const Bandwidth most = fastest_cache(device);
  return device.multiprocessors > 0 && point.traffic() / time > most
             ? fmt::format("{} in {}: the caches of {} multiprocessors give at most {}",
                           to_text(point.traffic()), to_text(time), device.multiprocessors,
                           to_text(most))
             : "";
}

class Collector {
 public:
  explicit Collector(KernelCalibration& calibration) : calibration_(calibration) {}

  void add(const SamplesPoint& point, const SamplesDevice& device) {
    SampleSummary summary = summary_of(point);
    ++calibration_.points;
    if (summary.refused.empty()) {
      summary.refused = why_impossible(point, summary.median, device);
    }
    if (!summary.refused.empty()) {
      calibration_.left_out.push_back({title_of(point), summary.refused});
      return;
    }
    KernelLaw law = law_around(point);
    const std::string title = title_of(law);
    KernelLaw& shared = laws_.try_emplace(title, std::move(law)).first->second;
    shared.points.push_back(kernel_point(point, summary));
    shared.summaries.push_back(std::move(summary));
    shared.clocks.push_back(point.clock_reference);
  }

  void fit() {
    for (auto& [title, law] : laws_) {
      leave_other_clocks(law);
      set_relative_sd(law);
      for (const SampleSummary& summary : law.summaries) {
        calibration_.samples += summary.kept;
        calibration_.outliers += summary.outliers;
      }
      law.fit = fit_kernel(law.points);
      calibration_.laws.push_back(std::move(law));
    }
  }

 private:
  void leave_other_clocks(KernelLaw& law) {
    const double usual = usual_clock(law.clocks);
    KernelLaw kept = law;
    kept.points.clear();
    kept.summaries.clear();
    kept.clocks.clear();
    for (std::size_t i = 0; i < law.points.size(); ++i) {
      const double clock = law.clocks[i];
      if (clock < usual || !is_one_clock(usual, clock)) {
        calibration_.left_out.push_back(
            {law.points[i].title,
             fmt::format("another clock: a steady {:.0f} % of the highest, and {:.0f} % where most "
                         "of its law was measured",
                         100.0 * clock, 100.0 * usual)});
        continue;
      }
      kept.points.push_back(std::move(law.points[i]));
      kept.summaries.push_back(std::move(law.summaries[i]));
      kept.clocks.push_back(clock);
    }
    law = std::move(kept);
  }

  KernelCalibration& calibration_;
  std::map<std::string, KernelLaw> laws_;
};

}  // namespace

double KernelLaw::clock() const { return *std::min_element(clocks.begin(), clocks.end()); }

std::string title_of(const KernelLaw& law) {
  std::string title =
      fmt::format("{} ({}), {}, {}", law.kernel, law.implementation, law.state, law.mode);
  if (!law.input.empty() && law.input != "none") {
    title += ", " + law.input;
  }
  for (const auto& [name, value] : law.parameters) {
    title += fmt::format(", {}={}", name, value);
  }
  return title;
}

KernelCalibration calibrate_kernels(std::vector<SamplesFile> files, Diagnostics& diagnostics) {
  KernelCalibration calibration;
  Collector collector(calibration);
  for (const SamplesFile& file : files) {
    const double drift = drift_of(file);
    check_drift(file, drift, diagnostics);
    check_timer(file, diagnostics);
    calibration.drift = std::max(calibration.drift, drift);
    for (const SamplesPoint& point : file.points) {
      collector.add(point, file.device);
    }
  }
  collector.fit();
  calibration.pairs = calibrate_pairs(files);
  if (calibration.laws.empty()) {
    diagnostics.error(std::nullopt, "no point can be used", "",
                      calibration.left_out.empty() ? "" : calibration.left_out.front().reason);
  }
  calibration.files = std::move(files);
  return calibration;
}

std::vector<const KernelLaw*> laws_of(const KernelCalibration& calibration,
                                      std::string_view kernel) {
  std::vector<const KernelLaw*> laws;
  for (const KernelLaw& law : calibration.laws) {
    if (law.kernel == kernel) {
      laws.push_back(&law);
    }
  }
  const auto keep = [&](auto is_better) {
    if (std::any_of(laws.begin(), laws.end(), is_better)) {
      std::erase_if(laws, [&](const KernelLaw* law) { return !is_better(law); });
    }
  };
  keep([](const KernelLaw* law) { return law->state == "cold"; });
  keep([](const KernelLaw* law) { return law->mode == "stream"; });
  return laws;
}

KernelChecks check_kernels(const KernelCalibration& laws, const KernelCalibration& other) {
  std::map<std::string, const KernelLaw*> known;
  for (const KernelLaw& law : laws.laws) {
    known[title_of(law)] = &law;
  }
  KernelChecks checks;
  for (const KernelLaw& measured : other.laws) {
    const auto found = known.find(title_of(measured));
    const double clock = measured.clock();
    if (const double own = found == known.end() ? clock : found->second->clock();
        !is_one_clock(std::min(own, clock), std::max(own, clock))) {
      checks.other_clock.push_back(fmt::format("{} ({:.0f} % and {:.0f} % of the highest)",
                                               title_of(measured), 100.0 * own, 100.0 * clock));
    }
    for (const KernelPoint& point : measured.points) {
      if (found == known.end()) {
        checks.without_law.push_back(point.title);
      } else {
        const KernelFit& fit = found->second->fit;
        checks.points.push_back({point.title, fit.predict(point), point.time, !fit.covers(point)});
      }
    }
  }
  return checks;
}

}  // namespace payoff
