// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>

#include "sim/trace.hpp"

// A timeline on its way to the disk. It grows under a temporary name beside its target and takes
// its own name once its JSON is complete, be it of a whole step or of what ran before Ctrl-C: a
// file under the target's name is always valid. What is not a regular file is written in place.

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

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty: in place, or already renamed
  std::ofstream file_;
  std::unique_ptr<sim::TraceWriter> writer_;
};

// While it lives, Ctrl-C (and a request to terminate) sets the flag instead of ending the program;
// a second one ends it.
class InterruptGuard {
 public:
  InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

  [[nodiscard]] static const std::atomic<bool>& flag();
};

}  // namespace payoff
