// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "cli/exit_code.hpp"

namespace payoff {
namespace {

// A signal handler can reach nothing else. Lock-free, so that it may be set there.
std::atomic<bool> interrupted{false};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<bool> polled{false};       // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<bool> growing{false};      // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
static_assert(std::atomic<bool>::is_always_lock_free);

constexpr std::array ending_signals{SIGINT, SIGTERM, SIGHUP};

// Of the timeline, for the handler; longer ones than the system takes were refused when opened.
using PathText = std::array<char, 4096>;
PathText grows_at{};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
PathText goes_to{};   // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void keep(const std::filesystem::path& path, PathText& text) {
  const std::string& whole = path.native();
  text.fill('\0');
  std::copy_n(whole.begin(), std::min(whole.size(), text.size() - 1), text.begin());
}

void say(int descriptor, std::string_view text) {
  const auto written = ::write(descriptor, text.data(), text.size());
  static_cast<void>(written);  // nothing can be done about it here
}

// Calls nothing but what a signal handler may.
[[noreturn]] void end_at_once(bool complete) {
  if (growing.load(std::memory_order_relaxed)) {
    const bool in_place = std::strcmp(grows_at.data(), goes_to.data()) == 0;
    if (complete) {
      const int file = ::open(grows_at.data(), O_WRONLY | O_APPEND | O_NONBLOCK);
      say(file, sim::TraceWriter::end_of_file);
      ::close(file);
    }
    if (!in_place) {
      const int result =
          complete ? ::rename(grows_at.data(), goes_to.data()) : ::unlink(grows_at.data());
      static_cast<void>(result);
    }
  }
  say(STDERR_FILENO, "interrupted\n");
  ::_exit(static_cast<int>(ExitCode::failure));
}

extern "C" void interrupt(int /*signal*/) {
  const int error = errno;
  const bool again = interrupted.exchange(true, std::memory_order_relaxed);
  const bool polls = polled.load(std::memory_order_relaxed);
  if (again || !polls) {
    end_at_once(!polls);
  }
  errno = error;
}

}  // namespace

TraceFile::TraceFile(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path_, ignored);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) {
    temporary_ = path_;
    temporary_ += ".part-" + std::to_string(::getpid());
  }
  errno = 0;
  file_.open(temporary_.empty() ? path_ : temporary_, std::ios::binary | std::ios::trunc);
  if (!file_) {
    fail(errno != 0 ? std::strerror(errno) : "unknown reason");
  }
  writer_ = std::make_unique<sim::TraceWriter>(file_);
  errno = 0;
  if (!file_.flush()) {
    const std::string reason = errno != 0 ? std::strerror(errno) : "unknown reason";
    std::filesystem::remove(temporary_, ignored);
    fail(reason);
  }
}

TraceFile::~TraceFile() {
  if (!temporary_.empty()) {
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
  }
}

void TraceFile::commit() {
  errno = 0;
  writer_->finish();
  file_.close();
  if (!file_) {
    fail(errno != 0 ? std::strerror(errno) : "unknown reason");
  }
  if (!temporary_.empty()) {
    std::error_code failed;
    std::filesystem::rename(temporary_, path_, failed);
    if (failed) {
      fail(failed.message());
    }
    temporary_.clear();
  }
}

void TraceFile::fail(const std::string& reason) const {
  throw std::runtime_error("cannot write " + path_.string() + ": " + reason);
}

HeldSignals::HeldSignals() {
  sigset_t held;
  sigemptyset(&held);
  for (const int signal : ending_signals) {
    sigaddset(&held, signal);
  }
  pthread_sigmask(SIG_BLOCK, &held, &before_);
}
HeldSignals::~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

InterruptGuard::InterruptGuard(const TraceFile* trace) {
  interrupted.store(false, std::memory_order_relaxed);
  polled.store(false, std::memory_order_relaxed);
  if (trace != nullptr) {
    keep(trace->growing(), grows_at);
    keep(trace->path(), goes_to);
  }
  growing.store(trace != nullptr, std::memory_order_relaxed);
  for (std::size_t i = 0; i < before_.size(); ++i) {
    before_[i] = std::signal(ending_signals[i], interrupt);
    if (before_[i] == SIG_IGN) {
      std::signal(ending_signals[i], SIG_IGN);
    }
  }
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < before_.size(); ++i) {
    std::signal(ending_signals[i], before_[i]);
  }
  growing.store(false, std::memory_order_relaxed);
}

InterruptGuard::Polling::Polling() { polled.store(true, std::memory_order_relaxed); }
InterruptGuard::Polling::~Polling() { polled.store(false, std::memory_order_relaxed); }

const std::atomic<bool>& InterruptGuard::flag() { return interrupted; }

}  // namespace payoff
