// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_log.hpp"

#include <exception>
#include <string>

#include "cli/sweep_merge.hpp"
#include "cli/sweep_results.hpp"
#include "tests/fuzz/target.hpp"

namespace payoff::fuzz {
namespace {

template <class Work>
std::string outcome(Work work) {
  try {
    return work();
  } catch (const std::exception& refused) {
    return refused.what();
  }
}

}  // namespace

// As a file to go on with, whose first line is the right one, and as the shards of a merge.
std::string read_sweep_log(std::string_view input) {
  const std::string first = std::string(input.substr(0, input.find('\n'))) + "\n";
  const std::string file = scratch_file("runs.jsonl", input);
  std::string told = outcome([&] { return merged_log({file}); });
  told += outcome([&] { return merged_log({file, file}); });
  told += outcome([&] { return csv_of_log(merged_log({file}), file); });
  told += outcome([&] { return csv_of_log(std::string(input), file); });
  told += outcome([&] { return std::to_string(sweep_results(begun_log(file)).columns.size()); });
  return told + outcome([&] { return std::to_string(SweepLog(file).go_on(first, 3)); });
}

}  // namespace payoff::fuzz
