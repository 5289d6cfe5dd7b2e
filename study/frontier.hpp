// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/experiment.hpp"
#include "model/remedy_limits.hpp"
#include "study/job_scale.hpp"

// The break-even frontier: the speedup of one plan over two axes of the job at once, and the lines
// on which it is as fast as the job as given, and as the best uncompressed remedy at the same place
// (study/remedy.hpp, searched anew everywhere). By the most likely parameters. The values stand on
// a grid; where a line crosses an edge of the grid is found by halving with predictions of its own,
// so that it does not depend on how fine the grid is; between two edges the line is straight.

namespace payoff {

struct FrontierValue {
  double speedup{};         // over the job as given at the same place
  double against_remedy{};  // over the best remedy there
  bool fits{};              // the memory
};

struct FrontierPlace {
  double x{};
  double y{};

  bool operator==(const FrontierPlace&) const = default;
};
using FrontierLine = std::vector<FrontierPlace>;  // at least two

struct Frontier {
  std::vector<double> xs;
  std::vector<double> ys;
  std::vector<std::optional<FrontierValue>> values;  // y by y; nullopt: no such job, or plan of it
  std::vector<FrontierLine> even;                    // as fast as the job as given
  std::vector<FrontierLine> even_with_remedy;
  bool lacks_jobs{};      // there is a place without a job
  std::string why_not{};  // what check() says of the plan at the first place that cannot have it

  [[nodiscard]] const std::optional<FrontierValue>& at(std::size_t x, std::size_t y) const {
    return values[y * xs.size() + x];
  }
};

struct FrontierQuestion {
  const Experiment& experiment;
  std::size_t plan{};  // which of its plans; not the first
  RemedyLimits limits;
  JobScale x;
  JobScale y;
};

[[nodiscard]] Frontier find_frontier(const FrontierQuestion& question);

// The lines of a grid of values that were found before: where they cross an edge is told by the
// values at its ends, straight in the logarithms of both. A ratio that is not known (NaN) has none.
void add_straight_lines(Frontier& grid);

}  // namespace payoff
