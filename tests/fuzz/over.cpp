// SPDX-License-Identifier: Apache-2.0
#include <sstream>
#include <string>
#include <vector>

#include "cli/session.hpp"
#include "cli/sweep_axes.hpp"
#include "tests/fuzz/target.hpp"

namespace payoff::fuzz {
namespace {

ExitCode nothing(const Arguments& /*arguments*/, Session& /*session*/) { return ExitCode::success; }

}  // namespace

// One axis a line.
std::string read_over(std::string_view input) {
  std::ostringstream out;
  std::ostringstream err;
  Console console{out, err};
  Session session(console, "payoff sweep");
  std::vector<std::string> words;
  for (std::size_t start = 0; start <= input.size() && words.size() < 16;) {
    const std::size_t end = std::min(input.find('\n', start), input.size());
    words.push_back("--over=" + std::string(input.substr(start, end - start)));
    start = end + 1;
  }
  const Command command{"sweep", "", "", {}, {over_option}, nothing};
  const Arguments arguments =
      parse_arguments(command, words, 1, session.sources(), session.diagnostics());
  const SweepInput axes = read_axes(arguments, session);
  if (axes.axes.size() != axes.columns.size() || axes.axes.size() != axes.arguments.size()) {
    broken("every axis has a column and an argument");
  }
  std::string told;
  for (std::size_t i = 0; i < axes.axes.size(); ++i) {
    if (axes.axes[i].values.empty()) {
      broken("every axis has a value");
    }
    told += axes.axes[i].key + axes.axes[i].values.back();
  }
  (void)session.report();
  return told + err.str();
}

}  // namespace payoff::fuzz
