// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "study/sweep.hpp"

// The lines of a file of results: JSON Lines, the first of which says what was asked. Functions
// that take a file throw RefusedFiles naming it, and std::runtime_error where it cannot be read.

namespace payoff {

using ResultLine = nlohmann::ordered_json;

inline constexpr std::size_t most_columns = 1000;  // a result has some dozens of keys

[[noreturn]] void refuse_results(const std::filesystem::path& file, std::string_view why);

// `line` counts from 1: "runs.jsonl:3: is no result of `payoff sweep`".
[[nodiscard]] std::string broken_line(const std::filesystem::path& file, std::size_t line);

// A line that is none of a sweep, of a text whose file its reader does not know.
class BrokenLine : public std::runtime_error {
 public:
  explicit BrokenLine(std::size_t line);
  [[nodiscard]] std::size_t line() const { return line_; }

 private:
  std::size_t line_;
};

// The whole lines of a text, without their ends.
[[nodiscard]] std::vector<std::string_view> whole_lines(std::string_view text);

// Whether a line looks like a whole one of the job.
[[nodiscard]] bool is_of_job(std::string_view line, std::uint64_t job);

// Discarded where it is no JSON, or nested as no result is: what is made of it later is recursive.
[[nodiscard]] ResultLine parsed_line(std::string_view line);

// The first of `lines`, which is that of a sweep.
[[nodiscard]] ResultLine header_of(const std::filesystem::path& file,
                                   const std::vector<std::string_view>& lines);
[[nodiscard]] Shard shard_of(const ResultLine& header);

}  // namespace payoff
