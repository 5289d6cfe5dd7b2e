// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "cli/session.hpp"

// How far long work is: on a terminal, from two seconds on, one line that says how much is done and
// how long the rest will take. It is gone when the work is.

namespace payoff {

class ProgressLine {
 public:
  using Clock = std::chrono::steady_clock;

  // `what` is counted, "jobs"; `done` of `all` were done before. The user has waited since `since`,
  // where something that cannot be counted came first.
  ProgressLine(std::uint64_t done, std::uint64_t all, std::string what, Session& session,
               Clock::time_point since = Clock::now());
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  void at(std::uint64_t done);
  void end();

 private:
  std::uint64_t first_;
  std::uint64_t all_;
  std::string what_;
  Session& session_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_;
  bool shown_{};
};

}  // namespace payoff
