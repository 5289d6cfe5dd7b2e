// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cli/sweep_job.hpp"
#include "model/experiment.hpp"
#include "study/number_axis.hpp"

// What of a sweep is read, for jobs that are not (cli/sweep_shared.hpp): a job for each combination
// of the axes that have to be read, and each value of the axes of numbers once. Any thread may ask.

namespace payoff {

// A job as it was read, for all values of the axes of numbers.
struct SweepBase {
  Experiment experiment;
  std::vector<std::size_t> plans;  // of each strategy
  bool dp_is_open{};               // as many replicas as the GPUs hold
  bool is_shared{};                // nothing but its numbers differs from job to job
};

[[nodiscard]] SweepBase sweep_base(const SweepQuestion& question, const ReadExperiment& read);
// Of a job of this base, with as many replicas as there are where that is open; none where it has
// more ranks than an experiment may have.
[[nodiscard]] std::optional<JobNumbers> whole_numbers(const SweepBase& base, JobNumbers numbers);

class SweepBases {
 public:
  explicit SweepBases(const SweepQuestion& question);

  // Whether an axis is one of numbers. How many samples a step has may follow from a number of all
  // of them, and is read with it.
  [[nodiscard]] static const NumberAxis* number_axis(const SweepQuestion& question,
                                                     std::size_t axis);

  // The base of a job. Null where this job, with its own numbers, cannot be read.
  [[nodiscard]] std::shared_ptr<const SweepBase> base_of(const std::vector<std::size_t>& job);
  // Of a job, the values of the axes that are read: those of its base.
  [[nodiscard]] std::vector<std::size_t> values_read(const std::vector<std::size_t>& job) const;

  struct NumberColumn {
    std::size_t axis{};
    const NumberAxis* key{};
    std::size_t values{};
  };
  [[nodiscard]] const std::vector<NumberColumn>& columns() const { return columns_; }
  // What the job's value in one of the columns says, the column's own number alone. None where this
  // job cannot be read.
  [[nodiscard]] std::optional<JobNumbers> numbers_of(std::size_t column,
                                                     const std::vector<std::size_t>& job);

 private:
  [[nodiscard]] std::shared_ptr<const SweepBase> read(const std::vector<std::size_t>& job) const;
  [[nodiscard]] std::optional<JobNumbers> read_with_job(const std::vector<std::size_t>& job) const;

  const SweepQuestion& question_;
  SweepQuestion uncompressed_;  // no strategy stands in the way of a number
  std::vector<NumberColumn> columns_;
  std::vector<std::size_t> others_;  // axes that are read
  std::mutex mutex_;                 // of what follows
  std::map<std::vector<std::size_t>, std::shared_ptr<const SweepBase>> bases_;
  std::vector<std::vector<std::optional<JobNumbers>>> numbers_;  // by column and value
};

}  // namespace payoff
