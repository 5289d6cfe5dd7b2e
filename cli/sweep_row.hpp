// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/sweep_job.hpp"
#include "model/evaluate.hpp"

// The lines of a sweep without intervals, written as text at once: the bytes of job_lines(), which
// builds every line as JSON, at a tenth of its time. Most numbers of a line are those of the line
// of the same strategy before it, and their text is kept.

namespace payoff {

// What a line says of a strategy that can be.
struct RowNumbers {
  int gpus{};
  double samples{};  // of a step
  double speedup{};
  std::string_view extrapolated{};  // keys and counts (cli/sweep_extrapolation.hpp)
};

class RowWriter {
 public:
  explicit RowWriter(const SweepQuestion& question);

  // Keys that lines have beside those of axes.
  [[nodiscard]] static bool is_own_key(std::string_view key);

  // The lines to come are of this job.
  void begin(std::uint64_t job, const std::vector<std::size_t>& values);
  void add(std::size_t strategy, const StepPrediction& prediction, const RowNumbers& numbers,
           std::string& lines);
  // `reason` as JSON text.
  void add_impossible(std::size_t strategy, std::string_view reason, std::string& lines) const;

  static constexpr std::size_t column_count = 29;

 private:
  // A number, and how it is written.
  struct Number {
    double value{};
    std::uint8_t size{3};
    std::array<char, 32> text{'0', '.', '0'};
  };
  using Row = std::array<Number, column_count>;

  static void add_number(double value, Number& known, std::string& lines);

  std::vector<std::vector<std::string>> axis_texts_;  // of each axis its values: `,"nodes":8`
  std::vector<std::string> strategies_;               // `,"strategy":"fp16"`
  std::vector<Row> rows_;                             // the last of each strategy
  std::string job_;                                   // `{"job":7,"nodes":8`
};

}  // namespace payoff
