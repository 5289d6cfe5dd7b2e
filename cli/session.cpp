// SPDX-License-Identifier: Apache-2.0
#include "cli/session.hpp"

#include <algorithm>
#include <optional>

namespace payoff {

ExitCode Session::report() {
  const bool is_wrong = diagnostics_.has_errors();
  if (format_ == ErrorFormat::json) {
    for (const std::string& what : unreadable_) {
      diagnostics_.error(std::nullopt, what);
    }
    console_.err << render_json(diagnostics_, sources_);
  } else if (!diagnostics_.empty()) {
    console_.err << render_text(
        diagnostics_, sources_,
        {.width = console_.width, .color = console_.color_err, .outcome = outcome_});
  }
  if (format_ == ErrorFormat::text) {
    for (const std::string& what : unreadable_) {
      console_.err << "error: " << what << '\n';
    }
  }
  return is_wrong              ? ExitCode::bad_input
         : unreadable_.empty() ? ExitCode::success
                               : ExitCode::failure;
}

void Session::cannot_read(std::string what) {
  if (std::find(unreadable_.begin(), unreadable_.end(), what) == unreadable_.end()) {
    unreadable_.push_back(std::move(what));
  }
}

void Session::note(const std::string& text) {
  if (format_ == ErrorFormat::text) {
    console_.err << "note: " << text << std::endl;
  }
}

void Session::progress(const std::string& text) {
  if (console_.terminal_err && format_ == ErrorFormat::text) {
    constexpr const char* to_the_beginning_and_clear = "\r\x1b[K";
    console_.err << to_the_beginning_and_clear << text << std::flush;
  }
}

ExitCode Session::report_failure(const std::string& what) {
  if (format_ == ErrorFormat::json) {
    diagnostics_.error(std::nullopt, what);
    (void)report();
  } else {
    (void)report();
    console_.err << "error: " << what << '\n';
  }
  return ExitCode::failure;
}

}  // namespace payoff
