// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "cli/exit_code.hpp"
#include "cli/output_place.hpp"

namespace payoff {
namespace {

// How far the program is, as a handler has to know it.
enum class Phase : std::uint8_t {
  unguarded,  // no InterruptGuard lives: before the first one, or after the last
  preparing,  // the timeline has no spans yet: what of it is on the disk lacks its end alone
  polling     // the timeline is the program's: spans wait in memory, or it is being renamed
};

// A signal handler can reach nothing else. Lock-free, so that they may be set there.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<bool> interrupted{false};
std::atomic<Phase> phase{Phase::unguarded};
std::atomic<bool> growing{false};
std::atomic<std::int64_t> first_signal{0};  // when it came, in ns; 0: none came
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<Phase>::is_always_lock_free &&
              std::atomic<std::int64_t>::is_always_lock_free);

// Ordinary tools send one request as two signals: `timeout` to its child and to its group, a
// terminal that closes once as itself and once through its shell. Nobody asks twice so fast.
constexpr std::int64_t one_request = 1'000'000'000;  // ns

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

std::int64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return (static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000) + time.tv_nsec;
}

// Whether this signal asks for something that the ones before it did not.
bool asks_again() {
  const std::int64_t time = now();
  std::int64_t first = 0;
  return !first_signal.compare_exchange_strong(first, time) && time - first > one_request;
}

extern "C" void interrupt(int signal) {
  const int error = errno;
  const Phase at = phase.load(std::memory_order_relaxed);
  if (at == Phase::preparing) {
    end_at_once(true);
  }
  const bool again = asks_again();
  interrupted.store(true, std::memory_order_relaxed);
  if (again && at == Phase::polling) {
    end_at_once(false);
  }
  if (again) {  // only what was interrupted leaves the handler behind
    std::signal(signal, SIG_DFL);
    ::raise(signal);
  }
  errno = error;
}

sigset_t all_ending() {
  sigset_t all;
  sigemptyset(&all);
  for (const int signal : ending_signals) {
    sigaddset(&all, signal);
  }
  return all;
}

}  // namespace

TraceFile::TraceFile(std::filesystem::path path) : path_(std::move(path)), target_(path_) {
  if (!is_special(path_)) {
    target_ = target_of(path_);
    temporary_ = target_;
    temporary_ += ".part-" + std::to_string(::getpid());
  }
  errno = 0;
  file_.open(growing(), std::ios::binary | std::ios::trunc);
  if (!file_) {
    fail(errno != 0 ? std::strerror(errno) : "unknown reason");
  }
  writer_ = std::make_unique<sim::TraceWriter>(file_);
  errno = 0;
  if (!file_.flush()) {
    const std::string reason = errno != 0 ? std::strerror(errno) : "unknown reason";
    std::error_code ignored;
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
    std::filesystem::rename(temporary_, target_, failed);
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
  const sigset_t held = all_ending();
  pthread_sigmask(SIG_BLOCK, &held, &before_);
}
HeldSignals::~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

InterruptGuard::InterruptGuard(const TraceFile* trace) {
  interrupted.store(false, std::memory_order_relaxed);
  first_signal.store(0, std::memory_order_relaxed);
  if (trace != nullptr) {
    keep(trace->growing(), grows_at);
    keep(trace->target(), goes_to);
  }
  growing.store(trace != nullptr, std::memory_order_relaxed);
  phase.store(Phase::preparing, std::memory_order_relaxed);
  struct sigaction ours {};
  ours.sa_handler = interrupt;
  ours.sa_mask = all_ending();  // one after the other
  ours.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < before_.size(); ++i) {
    ::sigaction(ending_signals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler == interrupt) {
      before_[i].sa_handler = SIG_DFL;  // left by a guard that was interrupted
    }
    if (before_[i].sa_handler != SIG_IGN) {
      ::sigaction(ending_signals[i], &ours, nullptr);
    }
  }
}

// What repeats a signal that was answered may come as late as this, or later.
InterruptGuard::~InterruptGuard() {
  phase.store(Phase::unguarded, std::memory_order_relaxed);
  growing.store(false, std::memory_order_relaxed);
  if (first_signal.load(std::memory_order_relaxed) != 0) {
    return;
  }
  for (std::size_t i = 0; i < before_.size(); ++i) {
    ::sigaction(ending_signals[i], &before_[i], nullptr);
  }
}

void InterruptGuard::begin_polling() { phase.store(Phase::polling, std::memory_order_relaxed); }

const std::atomic<bool>& InterruptGuard::flag() { return interrupted; }

}  // namespace payoff
