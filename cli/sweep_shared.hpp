// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cli/sweep_bases.hpp"
#include "cli/sweep_job.hpp"
#include "study/sweep.hpp"

// The jobs of a sweep without reading each of them: to the bytes the lines of job_lines(). Axes of
// numbers (study/number_axis.hpp) change a job that was read once for every combination of the
// other axes; a job that cannot be read, or that more than one reason rules out, is left to
// job_lines(), and so is every job of a sweep that asks for more than the analytical step.

namespace payoff {

class SharedJobs {
 public:
  explicit SharedJobs(const SweepQuestion& question);
  SharedJobs(const SharedJobs&) = delete;
  SharedJobs& operator=(const SharedJobs&) = delete;
  ~SharedJobs();

  // Whether jobs of this question share anything.
  [[nodiscard]] static bool has_any(const SweepQuestion& question);
  // Of `count` jobs of a shard from the `first`-th on. Any thread may ask.
  [[nodiscard]] std::string lines(const Shard& shard, std::uint64_t first, std::uint64_t count);

 private:
  class Worker;

  const SweepQuestion& question_;
  SweepBases bases_;
  std::mutex mutex_;  // of the workers that no thread has
  std::vector<std::unique_ptr<Worker>> idle_;
};

}  // namespace payoff
