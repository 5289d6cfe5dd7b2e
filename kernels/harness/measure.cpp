// SPDX-License-Identifier: Apache-2.0
#include "kernels/harness/measure.hpp"

#include <algorithm>
#include <optional>

namespace payoff::kernels {
namespace {

constexpr Seconds first_pause = 50_ms;
constexpr Seconds longest_pause = 1.0_s;

std::optional<Stop> enough(const Measurement& so_far, const EntropyTrace& entropy, Seconds spent,
                           const StopRule& rule) {
  const std::size_t count = so_far.samples.size();
  if (spent >= rule.longest) {
    return Stop::time;
  }
  if (count >= rule.most) {
    return Stop::count;
  }
  if (count < rule.fewest || spent < rule.shortest || count % 2 != 0) {
    return std::nullopt;
  }
  if (summarize(so_far.samples).noise_ratio <= rule.noise_target) {
    return Stop::noise;
  }
  return entropy.is_level() ? std::optional(Stop::entropy) : std::nullopt;
}

}  // namespace

StopRule quick_rule() { return {5, 2000, 0.02, 10_ms, 100_ms}; }
StopRule full_rule() { return {10, 10000, 0.005, 100_ms, 350_ms}; }

std::string_view name(Stop stop) {
  switch (stop) {
    case Stop::noise:
      return "noise";
    case Stop::entropy:
      return "entropy";
    case Stop::time:
      return "time";
    default:
      return "count";
  }
}

Measurement measure(const std::function<Sample()>& take, const std::function<void(Seconds)>& pause,
                    const StopRule& rule, Seconds timer_tick) {
  Measurement result;
  EntropyTrace entropy(timer_tick);
  Seconds spent{};
  Seconds rest = first_pause;
  std::optional<Stop> stop;
  while (!stop) {
    const Sample sample = take();
    spent += std::max(sample.time, sample.taking);
    if (sample.clock_ratio < throttled_ratio) {
      ++result.discarded;
      pause(rest);
      spent += rest;
      rest = std::min(2.0 * rest, longest_pause);
    } else {
      result.samples.push_back(sample.time);
      result.clock_ratios.push_back(sample.clock_ratio);
      entropy.add(sample.time);
      rest = first_pause;
    }
    stop = enough(result, entropy, spent, rule);
  }
  result.stop = *stop;
  if (!result.samples.empty()) {
    result.summary = summarize(result.samples);
  }
  return result;
}

}  // namespace payoff::kernels
