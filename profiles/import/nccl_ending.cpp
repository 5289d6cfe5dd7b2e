// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/nccl_ending.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace payoff::import_detail {

namespace {

// As src/common.h of nccl-tests prints them (TESTCHECK, NCCLCHECK, CUDACHECK, testTimeout).
constexpr std::array<std::string_view, 4> failures{"Test NCCL failure", "Test CUDA failure",
                                                   ": Test failure ", "Test timeout"};
constexpr std::array<std::string_view, 2> endings{"Out of bounds values", "Avg bus bandwidth"};

// What stands behind `name`; 0: nothing does.
double amount_after(std::string_view line, std::string_view name) {
  const std::size_t at = line.find(name);
  double amount = 0.0;
  if (at != std::string_view::npos) {
    line.remove_prefix(at + name.size());
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    std::from_chars(line.data(), line.data() + line.size(), amount);
  }
  return std::isfinite(amount) ? std::max(amount, 0.0) : 0.0;
}

// The last of the sizes before `most`, as a run counts them; 0: not announced.
double last_announced(const NcclSizes& sizes) {
  if (sizes.least <= 0.0 || sizes.most < sizes.least) {
    return 0.0;
  }
  if (sizes.factor > 1.0) {
    const double times = std::log(sizes.most / sizes.least) / std::log(sizes.factor);
    return sizes.least * std::pow(sizes.factor, std::floor(times + 1e-9));
  }
  return sizes.step > 0.0
             ? sizes.least + sizes.step * std::floor((sizes.most - sizes.least) / sizes.step)
             : 0.0;
}

// A collective rounds a size down to what its ranks can share, so that a row is of the announced
// size as long as it is nearer to that than to the one before.
double least_of_last(const NcclSizes& sizes, double last) {
  return sizes.factor > 1.0 ? last / std::sqrt(sizes.factor) : last - 0.5 * sizes.step;
}

}  // namespace

void read_sizes(const std::string& line, NcclRun& run) {
  if (const double least = amount_after(line, "minBytes "); least > 0.0) {
    const double step = amount_after(line, "step:");
    const bool is_factor = line.find("(factor)") != std::string::npos;
    run.sizes = {least, amount_after(line, "maxBytes "), is_factor ? step : 0.0,
                 is_factor ? 0.0 : step};
  } else if (const double most = amount_after(line, "Reducing maxBytes to "); most > 0.0) {
    run.sizes.most = most;
    run.sizes.least = std::min(run.sizes.least, most);
  }
  run.is_whole = run.is_whole || std::any_of(endings.begin(), endings.end(), [&](auto ending) {
                   return line.find(ending) != std::string::npos;
                 });
}

bool tells_failure(const std::string& line) {
  return std::any_of(failures.begin(), failures.end(), [&](std::string_view failure) {
    return line.find(failure) != std::string::npos;
  });
}

std::optional<Finding> doubt_of_ending(const NcclRun& run, const std::string& file,
                                       const std::string& id) {
  if (run.has_failed || run.rows.empty()) {
    return std::nullopt;
  }
  double largest = 0.0;
  for (const NcclRunRow& row : run.rows) {
    largest = std::max(largest, row.bytes.value_or(0.0));
  }
  const NcclPlace& at = run.rows.back().place;
  const double last = last_announced(run.sizes);
  if (last > 0.0 && largest < least_of_last(run.sizes, last)) {
    return Finding{
        file,
        at.line,
        at.column,
        id,
        fmt::format("the rows end at {:.0f} bytes, and {:.0f} were announced", largest, last),
        Effect::noted,
        "cut, or left early? laws hold up to the last row; run it again for the rest"};
  }
  if (last > 0.0 || run.is_whole) {
    return std::nullopt;
  }
  return Finding{file,
                 at.line,
                 at.column,
                 id,
                 "nothing tells whether this row is the last: neither the sizes announced nor the "
                 "sums behind them are in the text",
                 Effect::noted,
                 "give the output of nccl-tests from its first line to its last"};
}

}  // namespace payoff::import_detail
