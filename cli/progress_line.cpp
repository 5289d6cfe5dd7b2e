// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_line.hpp"

#include <utility>

#include <fmt/format.h>

namespace payoff {

ProgressLine::ProgressLine(std::uint64_t done, std::uint64_t all, std::string what,
                           Session& session, Clock::time_point since)
    : first_(done),
      all_(all),
      what_(std::move(what)),
      session_(session),
      next_(since + std::chrono::seconds(2)) {}

ProgressLine::~ProgressLine() { end(); }

void ProgressLine::at(std::uint64_t done) {
  const auto now = Clock::now();
  if (now < next_ || done <= first_) {
    return;
  }
  next_ = now + std::chrono::milliseconds(200);
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double left =
      seconds * static_cast<double>(all_ - done) / static_cast<double>(done - first_);
  session_.progress(fmt::format("{} of {} {}, {:.0f} s left", done, all_, what_, left));
  shown_ = true;
}

void ProgressLine::end() {
  if (shown_) {
    session_.progress({});
    shown_ = false;
  }
}

}  // namespace payoff
