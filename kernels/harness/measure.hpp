// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "kernels/harness/statistics.hpp"
#include "model/units.hpp"

// Takes samples of one point until there are enough. What is measured and how long the harness
// waits are functions, so that the rules are tested with invented times.

namespace payoff::kernels {

struct Sample {
  Seconds time{};
  double clock_ratio{1.0};  // the clock while it ran, relative to the clock to expect
  Seconds taking{};         // all that it cost: the flush of the cache and the host's work too
};

struct StopRule {
  std::size_t fewest{10};
  std::size_t most{10000};
  double noise_target{0.005};
  Seconds shortest{};  // of taking samples; both criteria wait for it
  Seconds longest{};   // the same; discarded samples and pauses count
};

// A run to look around, and a run to keep.
[[nodiscard]] StopRule quick_rule();
[[nodiscard]] StopRule full_rule();

enum class Stop { noise, entropy, time, count };
[[nodiscard]] std::string_view name(Stop stop);

struct Measurement {
  std::vector<Seconds> samples;
  std::vector<double> clock_ratios;  // of the kept samples
  std::size_t discarded{};           // taken while the clock was throttled
  Stop stop{};
  Summary summary;
};

// Below this share of the expected clock a sample is discarded and the GPU left to cool, each time
// twice as long as the time before. Where it never recovers, the time limit ends it, and a
// measurement without any sample is empty: its summary is all zero.
inline constexpr double throttled_ratio = 0.75;

[[nodiscard]] Measurement measure(const std::function<Sample()>& take,
                                  const std::function<void(Seconds)>& pause, const StopRule& rule,
                                  Seconds timer_tick);

}  // namespace payoff::kernels
