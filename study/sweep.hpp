// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Which jobs a sweep runs: axes of values, and how they are combined. A job is one value of every
// axis; jobs are numbered, and the number says which values, so that a sweep can be cut into
// shards, stopped and taken up again without a list of what was done.

namespace payoff {

struct SweepAxis {
  std::string key;                  // of the experiment: "cluster.nodes"
  std::vector<std::string> values;  // as they are written after `--set KEY=`
};

enum class Sampling {
  grid,    // every combination, the last axis fastest
  zipped,  // the first values together, then the second ones: all axes have as many
  random,  // combinations of the grid, none twice
  latin    // every value of an axis equally often (or once more), in a random order of its own
};

class SweepDesign {
 public:
  // `wanted` jobs of random (at most as many as the grid has) and latin designs; the others know
  // their number. Requires axes with values; zipped: equally many. `seed` decides what is random.
  SweepDesign(std::vector<SweepAxis> axes, Sampling sampling, std::uint64_t wanted = 0,
              std::uint64_t seed = 1);

  [[nodiscard]] const std::vector<SweepAxis>& axes() const { return axes_; }
  [[nodiscard]] Sampling sampling() const { return sampling_; }
  [[nodiscard]] std::uint64_t jobs() const { return jobs_; }
  // The value of every axis, by its place among them.
  [[nodiscard]] std::vector<std::size_t> job(std::uint64_t number) const;

 private:
  std::vector<SweepAxis> axes_;
  Sampling sampling_;
  std::uint64_t jobs_{};
  // random: the number of each job on the grid; latin: for each axis the value of each job.
  std::vector<std::uint64_t> picked_;
  std::vector<std::vector<std::size_t>> columns_;
};

// How many combinations there are; the largest number where that is more.
[[nodiscard]] std::uint64_t grid_size(const std::vector<SweepAxis>& axes);

// A part of a sweep that runs elsewhere at the same time: every `of`-th job, so that all parts take
// about as long.
struct Shard {
  std::uint64_t index{};
  std::uint64_t of{1};

  // How many of `jobs` are its own, and the number of the i-th of them.
  [[nodiscard]] std::uint64_t size(std::uint64_t jobs) const {
    return jobs > index ? (jobs - index - 1) / of + 1 : 0;
  }
  [[nodiscard]] std::uint64_t job(std::uint64_t i) const { return index + i * of; }
  bool operator==(const Shard&) const = default;
};

}  // namespace payoff
