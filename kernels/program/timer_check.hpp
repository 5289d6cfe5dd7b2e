// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "model/units.hpp"

// Whether the events that samples are timed with tell how long a kernel ran: the same runs of one
// copy by events and by the driver's records (activity_library.hpp).

namespace payoff::kernels {

struct TimerCheck {
  std::string kernel;
  std::size_t runs{};
  Bytes traffic{};
  Seconds by_events{};  // medians
  Seconds by_records{};
  std::string why_none;  // empty: it was checked
};

[[nodiscard]] TimerCheck not_checked(std::string why);

// Median against median. Fewer records than runs, or more, are of something else as well.
[[nodiscard]] TimerCheck compared(std::string kernel, std::span<const Seconds> by_events,
                                  std::span<const Seconds> by_records);

// The last thing of a run: see start_records().
[[nodiscard]] TimerCheck check_timer();

// "events 201.3 us, records 199.8 us for the same 21 runs of copy", or why there are none.
[[nodiscard]] std::string text_of(const TimerCheck& check);

}  // namespace payoff::kernels
