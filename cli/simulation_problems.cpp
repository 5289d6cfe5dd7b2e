// SPDX-License-Identifier: Apache-2.0
#include "cli/simulation_problems.hpp"

#include <algorithm>

namespace payoff {
namespace {

// One problem and whom it concerns: numbers in a message may differ by strategy.
struct Found {
  Problem problem;
  std::string strategies;
  std::size_t count{};
};

void add(std::vector<Found>& all, const Problem& problem, const std::string& label) {
  auto found = std::find_if(all.begin(), all.end(), [&](const Found& known) {
    return known.problem.path == problem.path && known.problem.message == problem.message;
  });
  if (found == all.end()) {
    found = all.insert(all.end(), {problem, {}, 0});
  }
  found->strategies += (found->count == 0 ? "" : ", ");
  found->strategies += label == "none" ? "uncompressed" : label;
  ++found->count;
}

}  // namespace

void report_problems(const StrategyProblems& problems, const PositionMap& positions,
                     Session& session) {
  std::vector<Found> all;
  for (const auto& [label, of_strategy] : problems) {
    for (const Problem& problem : of_strategy) {
      add(all, problem, label);
    }
  }
  for (const Found& found : all) {
    Diagnostic diagnostic;
    const bool is_field = found.problem.path.find('.') != std::string::npos;
    diagnostic.message =
        (is_field ? "`" + found.problem.path + "`: " : std::string()) + found.problem.message;
    if (is_field) {
      diagnostic.span = positions.find(found.problem.path);
    }
    diagnostic.help = found.problem.help;
    if (found.count < problems.size()) {
      diagnostic.notes = {"strategies: " + found.strategies};
    }
    session.diagnostics().add(std::move(diagnostic));
  }
}

}  // namespace payoff
