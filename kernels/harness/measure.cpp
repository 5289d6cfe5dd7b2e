// SPDX-License-Identifier: Apache-2.0
#include "kernels/harness/measure.hpp"

#include <algorithm>
#include <optional>

namespace payoff::kernels {
namespace {

constexpr Seconds first_pause = 50_ms;
constexpr Seconds longest_pause = 1.0_s;
constexpr std::size_t steady_samples = 3;

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

class Measurer {
 public:
  Measurer(const StopRule& rule, Seconds timer_tick)
      : rule_(rule), tick_(timer_tick), entropy_(timer_tick) {}

  // How long the GPU is to be left to cool.
  [[nodiscard]] Seconds add(const Sample& sample) {
    if (sample.timed_out) {
      ++result_.timed_out;
      lost_ += std::max(sample.time, sample.taking);
      stop_ = enough(result_, entropy_, spent(), rule_);
      return {};
    }
    if (result_.gated && !sample.gated) {  // two ways of timing make no one distribution
      if (has_fewest()) {
        stop_ = Stop::time;
        return {};
      }
      start_again({});
      result_.gated = false;
    }
    spent_ += std::max(sample.time, sample.taking);
    Seconds paused{};
    if (sample.clock_ratio > (1.0 + steady_spread) * result_.clock_reference) {
      fast_.push_back(sample);
    } else {
      fast_.clear();
    }
    if (sample.clock_ratio < throttled_ratio * result_.clock_reference) {
      ++result_.discarded;
      slow_.push_back(sample);
      if (!settle(steady_samples)) {
        paused = rest_;
        spent_ += rest_;
        rest_ = std::min(2.0 * rest_, longest_pause);
      }
    } else {
      keep(sample);
      slow_.clear();
      rest_ = first_pause;
      rise();
    }
    stop_ = enough(result_, entropy_, spent(), rule_);
    return paused;
  }

  [[nodiscard]] bool is_through() const { return stop_.has_value(); }

  [[nodiscard]] Measurement finished() {
    static_cast<void>(settle(2));
    result_.stop = *stop_;
    if (!result_.samples.empty()) {
      result_.summary = summarize(result_.samples);
    }
    return result_;
  }

 private:
  [[nodiscard]] bool has_fewest() const { return result_.samples.size() >= rule_.fewest; }
  // A time-out alone is longer than a point may take: it would leave no samples at all.
  [[nodiscard]] Seconds spent() const { return has_fewest() ? spent_ + lost_ : spent_; }

  void keep(const Sample& sample) {
    result_.samples.push_back(sample.time);
    result_.clock_ratios.push_back(sample.clock_ratio);
    entropy_.add(sample.time);
  }

  void start_again(const std::vector<Sample>& with) {
    result_.samples.clear();
    result_.clock_ratios.clear();
    entropy_ = EntropyTrace(tick_);
    for (const Sample& sample : with) {
      keep(sample);
    }
    slow_.clear();
    fast_.clear();
  }

  // A clock that was taken for all that there is, and is surpassed again and again, was not: what
  // was measured at it goes. The highest clock of the device is not surpassed.
  void rise() {
    if (result_.clock_reference >= 1.0 || fast_.size() < steady_samples) {
      return;
    }
    const std::vector<Sample> faster = fast_;
    result_.discarded += result_.samples.size() - faster.size();
    result_.clock_reference = std::min(1.0, clocks_of(faster)[faster.size() / 2]);
    start_again(faster);
  }

  // Sorted.
  [[nodiscard]] static std::vector<double> clocks_of(const std::vector<Sample>& samples) {
    std::vector<double> clocks;
    clocks.reserve(samples.size());
    for (const Sample& sample : samples) {
      clocks.push_back(sample.clock_ratio);
    }
    std::sort(clocks.begin(), clocks.end());
    return clocks;
  }

  // Whether the slow samples since the last fast one are of a steady clock, and more than the fast
  // ones: then they are the measurement.
  bool settle(std::size_t fewest) {
    if (slow_.size() < fewest || slow_.size() <= result_.samples.size()) {
      return false;
    }
    const std::vector<double> clocks = clocks_of(slow_);
    if (clocks.back() <= 0.0 || clocks.front() < (1.0 - steady_spread) * clocks.back()) {
      return false;
    }
    result_.discarded += result_.samples.size();
    result_.discarded -= slow_.size();
    result_.clock_reference = clocks[clocks.size() / 2];
    const std::vector<Sample> steady = slow_;
    start_again(steady);
    return true;
  }

  StopRule rule_;
  Seconds tick_;
  EntropyTrace entropy_;
  Measurement result_;
  std::vector<Sample> slow_;  // since the last one that was kept
  std::vector<Sample> fast_;  // above the clock to expect, one after the other
  Seconds spent_{};
  Seconds lost_{};  // to samples that the gate let go
  Seconds rest_ = first_pause;
  std::optional<Stop> stop_;
};

}  // namespace

StopRule quick_rule() { return {5, 2000, 0.02, 10_ms, 100_ms}; }
StopRule full_rule() { return {10, 10000, 0.005, 100_ms, 350_ms}; }

StopRule within(StopRule rule, Seconds limit) {
  constexpr double shortest_share = 0.3;
  rule.longest = std::min(rule.longest, limit);
  rule.shortest = std::min(rule.shortest, shortest_share * rule.longest);
  return rule;
}

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
  Measurer measurer(rule, timer_tick);
  while (!measurer.is_through()) {
    const Seconds rest = measurer.add(take());
    if (rest > Seconds{}) {
      pause(rest);
    }
  }
  return measurer.finished();
}

}  // namespace payoff::kernels
