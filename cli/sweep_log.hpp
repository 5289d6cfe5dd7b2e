// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "study/sweep.hpp"

// The results of a sweep on the disk: JSON Lines, the first of which says what was asked (axes,
// digests of all inputs, which shard), the others one strategy of one job each, in the order of the
// jobs. Lines are only ever added, so that whatever ends a sweep leaves its beginning.

namespace payoff {

// Where a sweep wrote to before, and how far it came.
struct SweepProgress {
  std::uint64_t jobs{};   // with all their lines
  std::uint64_t bytes{};  // up to the end of the last of these
};

// Throws std::runtime_error naming the file: it cannot be read, or begins with another question
// than `header`.
[[nodiscard]] SweepProgress progress_of(const std::filesystem::path& file,
                                        const std::string& header, std::size_t strategies);

// Adds to a file; each text is on its way to the disk when add() returns.
class SweepLog {
 public:
  // A new file begins with `header`; one that is gone on with is cut after its last whole job.
  // Throws std::runtime_error, as add() does, naming the file.
  SweepLog(std::filesystem::path file, const std::string& header);
  SweepLog(std::filesystem::path file, const SweepProgress& done);
  SweepLog(const SweepLog&) = delete;
  SweepLog& operator=(const SweepLog&) = delete;
  ~SweepLog();

  void add(const std::string& lines);

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path file_;
  int descriptor_;
};

// runs.jsonl, and runs.3-of-8.jsonl where it is a shard.
[[nodiscard]] std::filesystem::path shard_file(const std::filesystem::path& file,
                                               const Shard& shard);

// All shards of one sweep as one file: the text of it. Throws std::runtime_error that says which
// file asks another question, is given twice, is unfinished or is missing.
[[nodiscard]] std::string merged_log(const std::vector<std::filesystem::path>& files);

// The rows as CSV, one column for each key in the order of their first appearance.
[[nodiscard]] std::string csv_of_log(const std::string& log);

}  // namespace payoff
