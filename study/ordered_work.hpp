// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

// Long work on all cores whose results are written one after the other: what is on the disk is
// always the beginning of the whole, however many threads there are, and whenever it is stopped.

namespace payoff {

struct OrderedWork {
  std::uint64_t first{};
  std::uint64_t end{};
  // Any thread, any order.
  std::function<std::string(std::uint64_t)> compute;
  // One at a time, in the order of the numbers.
  std::function<void(std::uint64_t, const std::string&)> emit;
  // Nothing is begun once it is true; what had been begun is finished and emitted.
  const std::atomic<bool>* stop{};
  unsigned threads{};  // 0: as many as the machine runs at once
  // Results that wait for one before them are kept; at most so many, so that one slow job does not
  // fill the memory.
  std::uint64_t most_waiting{1024};
};

// The number of the first result that was not emitted. The first exception of `compute` or `emit`
// ends the work and is thrown again.
[[nodiscard]] std::uint64_t run_in_order(const OrderedWork& work);

}  // namespace payoff
