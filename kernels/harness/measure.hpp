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
  bool timed_out{};         // the gate opened by itself: launch times of the host may be in it
  bool gated{true};         // it waited behind a gate until everything was queued
};

// Whether the next sample of a point waits behind the gate: no longer once the gate has opened by
// itself so often, in a row or not: then the host cannot queue the work without waiting for the
// device, or not reliably.
class GateUse {
 public:
  void saw(bool timed_out) { time_outs_ += timed_out ? 1 : 0; }
  [[nodiscard]] bool waits() const { return time_outs_ < most_time_outs; }

  static constexpr int most_time_outs = 2;  // each costs two seconds

 private:
  int time_outs_ = 0;
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
// The rule of a point that may take no longer than `limit`. What is left of the time after the
// shortest, seven tenths and more, is for noise and entropy to end it.
[[nodiscard]] StopRule within(StopRule rule, Seconds limit);

enum class Stop { noise, entropy, time, count };
[[nodiscard]] std::string_view name(Stop stop);

struct Measurement {
  std::vector<Seconds> samples;
  std::vector<double> clock_ratios;  // of the kept samples
  std::size_t discarded{};           // taken while the clock was throttled
  std::size_t timed_out{};           // left out because the gate opened by itself
  bool gated{true};                  // false: the host's launch times may be in the samples
  double clock_reference{1.0};       // what clock ratios are to be held against
  Stop stop{};
  Summary summary;
};

// Below this share of the expected clock a sample is discarded and the GPU left to cool, each time
// twice as long as the time before. Where it neither recovers nor settles, the time limit ends it,
// and a measurement without any sample is empty: its summary is all zero. Where the clock keeps
// steady below, as with a cap on the power, that clock is what this GPU has: the samples are kept,
// and `clock_reference` says so; where three in a row then are faster than that by more than the
// spread, the measurement begins again from them, at their clock. Samples that the gate
// let go are left out. Their time counts once there are the fewest samples that the rule asks for;
// those behind the gate are then the measurement, and else those that came without.
inline constexpr double throttled_ratio = 0.75;
// Clocks one after the other within this of each other are steady: three, two where time is up.
inline constexpr double steady_spread = 0.03;

[[nodiscard]] Measurement measure(const std::function<Sample()>& take,
                                  const std::function<void(Seconds)>& pause, const StopRule& rule,
                                  Seconds timer_tick);

}  // namespace payoff::kernels
