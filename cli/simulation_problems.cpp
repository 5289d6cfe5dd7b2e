// SPDX-License-Identifier: Apache-2.0
#include "cli/simulation_problems.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "cli/names.hpp"

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
  found->strategies += strategy_name(label);
  ++found->count;
}

// What a value that is not written itself follows from.
std::string_view source_of(std::string_view path) {
  return path == "layout.micro_batches" ? "layout.global_batch" : path;
}

// The place of the value, of what it follows from, or of the section of a file around them. Options
// of the command line make sections too, and the one that happened to be first is not to blame.
std::optional<Span> place_of(std::string_view path, const PositionMap& positions,
                             const SourceMap& sources) {
  for (const std::string_view written : {path, source_of(path)}) {
    if (const auto found = positions.at(written)) {
      return found;
    }
  }
  const std::optional<Span> section = positions.find(path);
  return section && !sources[section->source].argument ? section : std::nullopt;
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
    const std::string& path = found.problem.path;
    diagnostic.message = (path.empty() ? "" : "`" + path + "`: ") + found.problem.message;
    if (!path.empty()) {
      diagnostic.span = place_of(path, positions, session.sources());
    }
    diagnostic.help = found.problem.help;
    if (found.count < problems.size()) {
      diagnostic.notes = {"strategies: " + found.strategies};
    }
    session.diagnostics().add(std::move(diagnostic));
  }
}

}  // namespace payoff
