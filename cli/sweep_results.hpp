// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The results of a sweep as columns, for who looks at them again: nothing is computed anew.

namespace payoff {

// A key that results have: of numbers in SI, its unit in its name, or of words.
struct ResultColumn {
  std::string name;                // "step_seconds"
  std::vector<double> numbers;     // of each result; NaN where it has none
  std::vector<std::string> texts;  // instead; empty where the column has numbers

  [[nodiscard]] bool is_text() const { return !texts.empty(); }
};

struct ResultAxis {
  std::string key;       // "cluster.inter.bandwidth"
  std::size_t column{};  // its values: "bandwidth_bytes_per_second"
};

// Whether more of it is more GPUs.
[[nodiscard]] bool adds_gpus(std::string_view key);

struct SweepResults {
  std::string experiment;  // its name, or what is trained on what
  std::string engine;
  std::uint64_t jobs{};  // of the whole sweep
  std::size_t shards{1};
  std::vector<std::string> strategies;  // the uncompressed job first
  std::vector<ResultAxis> axes;
  std::vector<ResultColumn> columns;
  std::size_t rows{};

  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
  // Of the column's value there, as it is written in a label.
  [[nodiscard]] std::string value_text(std::size_t column, std::size_t row) const;
};

// Told now and then how many of all results were read.
using ReadingProgress = std::function<void(std::size_t done, std::size_t all)>;

// Of the text of a log (cli/sweep_log.hpp). Throws std::runtime_error that says which line is none.
[[nodiscard]] SweepResults sweep_results(const std::string& log,
                                         const ReadingProgress& progress = {});

// The column that a word means: its name, the name without its unit, an axis' key or option, or
// what `payoff sweep` and `payoff plot` call it (compress, step_time). nullopt where there is none.
[[nodiscard]] std::optional<std::size_t> find_column(const SweepResults& results,
                                                     std::string_view word);

// The unit that the name of a column ends in: "_bytes_per_second", or nothing.
[[nodiscard]] std::string_view unit_suffix(std::string_view column);

}  // namespace payoff
