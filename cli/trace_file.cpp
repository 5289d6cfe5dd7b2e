// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_file.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace payoff {
namespace {

// A signal handler can reach nothing else. Lock-free, so that it may be set there.
std::atomic<bool> interrupted{false};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void interrupt(int signal) {
  interrupted.store(true, std::memory_order_relaxed);
  std::signal(signal, SIG_DFL);
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
    fail();
  }
  writer_ = std::make_unique<sim::TraceWriter>(file_);
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
    fail();
  }
  if (!temporary_.empty()) {
    std::error_code failed;
    std::filesystem::rename(temporary_, path_, failed);
    if (failed) {
      throw std::runtime_error("cannot write " + path_.string() + ": " + failed.message());
    }
    temporary_.clear();
  }
}

void TraceFile::fail() const {
  throw std::runtime_error("cannot write " + path_.string() + ": " +
                           (errno != 0 ? std::strerror(errno) : "unknown reason"));
}

InterruptGuard::InterruptGuard() {
  interrupted.store(false, std::memory_order_relaxed);
  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

const std::atomic<bool>& InterruptGuard::flag() { return interrupted; }

}  // namespace payoff
