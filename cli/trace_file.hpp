// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "sim/trace.hpp"

// A timeline on its way to the disk. It grows under a temporary name beside its target and takes
// its own name once its JSON is complete, be it of a whole step or of what ran before Ctrl-C: a
// file under the target's name is always valid. A symbolic link stays, and what it leads to is the
// target. What is not a regular file is written in place.

namespace payoff {

class TraceFile {
 public:
  // Throws std::runtime_error, naming the file, when it cannot be written; so does commit().
  explicit TraceFile(std::filesystem::path path);
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  ~TraceFile();  // removes what was not committed

  [[nodiscard]] sim::TraceWriter& writer() { return *writer_; }
  void commit();
  [[noreturn]] void fail(const std::string& reason) const;

  // Where it goes: what the name leads to, if it is a symbolic link.
  [[nodiscard]] const std::filesystem::path& target() const { return target_; }
  // Where it grows: `target()` if that is no regular file.
  [[nodiscard]] const std::filesystem::path& growing() const {
    return temporary_.empty() ? target_ : temporary_;
  }

 private:
  std::filesystem::path path_;  // as it was named
  std::filesystem::path target_;
  std::filesystem::path temporary_;  // empty: in place, or already renamed
  std::ofstream file_;
  std::unique_ptr<sim::TraceWriter> writer_;
};

// While it lives, Ctrl-C, a request to terminate and a terminal that hangs up wait: between the
// making of a timeline's file and the guard below, they would leave its part behind.
class HeldSignals {
 public:
  HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals();

 private:
  sigset_t before_{};
};

// While it lives, Ctrl-C (and a request to terminate, and a terminal that hangs up) leaves a valid
// timeline, whatever the program is doing. A signal that was ignored when the program started stays
// so (nohup, background jobs of a shell). Until begin_polling() it ends the program at once, exit
// code `failure`, and the timeline, which has no spans yet, is completed. From then on the first
// signal sets a flag and does nothing else: the program ends by itself, or was about to. What comes
// within a second of it is the same request (`timeout` signals its child, then its group); one that
// comes later ends the program at once, without a timeline. After a signal the guard leaves its
// handler behind, so that the rest of a request does not kill a program that has answered it.
class InterruptGuard {
 public:
  explicit InterruptGuard(const TraceFile* trace = nullptr);
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

  // Once only: the file of the timeline is from now on written by the program alone.
  static void begin_polling();

  [[nodiscard]] static const std::atomic<bool>& flag();

 private:
  std::array<struct sigaction, 3> before_{};
};

}  // namespace payoff
