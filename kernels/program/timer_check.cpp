// SPDX-License-Identifier: Apache-2.0
#include "kernels/program/timer_check.hpp"

#include <utility>
#include <vector>

#include "kernels/harness/statistics.hpp"

namespace payoff::kernels {
namespace {

std::string microseconds(Seconds time) {
  const std::string text = std::to_string(time / 1_us);
  return text.substr(0, text.find('.') + 2) + " us";
}

}  // namespace

TimerCheck not_checked(std::string why) {
  TimerCheck none;
  none.why_none = std::move(why);
  return none;
}

TimerCheck compared(std::string kernel, std::span<const Seconds> by_events,
                    std::span<const Seconds> by_records) {
  TimerCheck check;
  check.kernel = std::move(kernel);
  check.runs = by_events.size();
  if (by_events.empty() || by_records.size() != by_events.size()) {
    check.why_none = std::to_string(by_records.size()) + " records of " +
                     std::to_string(by_events.size()) + " runs";
    return check;
  }
  check.by_events = upper_median(std::vector(by_events.begin(), by_events.end()));
  check.by_records = upper_median(std::vector(by_records.begin(), by_records.end()));
  return check;
}

std::string text_of(const TimerCheck& check) {
  if (!check.why_none.empty()) {
    return "event times were not checked: " + check.why_none;
  }
  return "events " + microseconds(check.by_events) + ", records " + microseconds(check.by_records) +
         " for the same " + std::to_string(check.runs) + " runs of " + check.kernel;
}

}  // namespace payoff::kernels
