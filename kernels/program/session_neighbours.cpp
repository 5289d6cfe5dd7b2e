// SPDX-License-Identifier: Apache-2.0
// Kernels beside each other, after the points.
#include <algorithm>
#include <exception>

#include "kernels/families/families.hpp"
#include "kernels/program/session.hpp"

namespace payoff::kernels {

std::vector<Neighbours> chosen_neighbours(const Plan& plan, const std::vector<std::string>& only) {
  const bool wanted =
      only.empty() || std::find(only.begin(), only.end(), interference_name) != only.end();
  return wanted ? neighbour_benchmarks(plan) : std::vector<Neighbours>{};
}

Budget budget_of_points(const Budget& budget, std::size_t neighbours) {
  constexpr double most = 0.3;
  const Seconds asked = static_cast<double>(neighbours) * longest_of_neighbours;
  return {budget.rule, budget.longest - std::min(asked, most * budget.longest)};
}

void measure_neighbours(const std::vector<Neighbours>& all, const Machine& machine,
                        const Budget& budget, const Clock& clock, const Report& report,
                        Outcome& outcome) {
  NeighbourMeter meter;
  for (Neighbours each : all) {
    for (Neighbour& member : each) {
      const Benchmark fitting = suited(member.benchmark, machine);
      member.benchmark = fitting;
    }
    const std::string title = title_of(each);
    std::string reason = clock() + longest_of_neighbours > budget.longest ? "no time left" : "";
    for (const Neighbour& member : each) {
      reason = reason.empty() ? why_left_out(member.benchmark, machine) : reason;
      if (!is_emulated() && 2 * member.units_held > machine.multiprocessors) {
        reason = "holds more than half of the multiprocessors";
      }
    }
    if (!reason.empty()) {
      outcome.left_out.push_back({title, reason});
      continue;
    }
    try {
      report(title);
      outcome.neighbours.push_back(meter.measure(each));
    } catch (const std::exception& error) {
      outcome.failed.push_back({title, error.what()});
    }
  }
}

}  // namespace payoff::kernels
