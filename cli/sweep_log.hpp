// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "study/sweep.hpp"

// The results of a sweep on the disk: JSON Lines, the first of which says what was asked (axes,
// digests of all inputs, which shard), the others one strategy of one job each, in the order of the
// jobs. Lines are only ever added, so that whatever ends a sweep leaves its beginning.

namespace payoff {

// A file that results are added to. Each text is on its way to the disk when add() returns. While
// it is open no other process may write to it. All functions throw std::runtime_error naming the
// file, RefusedFiles where it holds something else.
class SweepLog {
 public:
  // Makes the file where there is none.
  explicit SweepLog(std::filesystem::path file);
  SweepLog(const SweepLog&) = delete;
  SweepLog& operator=(const SweepLog&) = delete;
  ~SweepLog();

  // The first line of an empty file.
  void begin(const std::string& header);
  // Cuts what a stopped sweep left after its last whole job, and says how many jobs there are. A
  // file that does not begin with `header` answers another question, and one with a line that is
  // not of the job of its place was changed: both are left as they are.
  [[nodiscard]] std::uint64_t go_on(const std::string& header, std::size_t strategies);
  void add(const std::string& lines);

 private:
  void cut(std::size_t bytes);
  [[noreturn]] void fail() const;

  std::filesystem::path file_;
  int descriptor_;
};

// runs.jsonl, and runs.3-of-8.jsonl where it is a shard.
[[nodiscard]] std::filesystem::path shard_file(const std::filesystem::path& file,
                                               const Shard& shard);

// One file as it is: finished or not, all of a sweep or a shard of it. Its header and its whole
// lines. Throws RefusedFiles where it is no result of a sweep.
[[nodiscard]] std::string begun_log(const std::filesystem::path& file);

// The rows as CSV, one column for each key in the order of their first appearance. Throws
// RefusedFiles that names a line which is no row, as one of `file`.
[[nodiscard]] std::string csv_of_log(const std::string& log, const std::filesystem::path& file);

}  // namespace payoff
