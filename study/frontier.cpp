// SPDX-License-Identifier: Apache-2.0
#include "study/frontier.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <utility>

#include "study/job_axis.hpp"
#include "study/scaled_job.hpp"

namespace payoff {
namespace {

using Ratio = double FrontierValue::*;
using LineInCell = std::pair<FrontierPlace, FrontierPlace>;  // of a line, within a cell

constexpr double resolution = 1e-4;  // of where a line crosses an edge, relative

// The point between two at which the logarithm of the ratio is zero, were it straight.
double straight_zero(double a, double b, double at_a, double at_b) {
  const double share = std::log(at_a) / (std::log(at_a) - std::log(at_b));
  return a * std::pow(b / a, share);
}

class Map {
 public:
  explicit Map(const FrontierQuestion& question) : question_(question) {}

  const std::optional<FrontierValue>& at(double x, double y) {
    const auto [entry, is_new] = values_.try_emplace({x, y});
    if (is_new) {
      entry->second = value(x, y);
    }
    return entry->second;
  }

  [[nodiscard]] std::optional<Experiment> job(double x, double y) const {
    const std::optional<Experiment> row = question_.y.job(question_.experiment, y);
    return row ? question_.x.job(*row, x) : std::nullopt;
  }

 private:
  [[nodiscard]] std::optional<FrontierValue> value(double x, double y) const {
    JobAxis axis([this, y](double at) { return job(at, y); }, question_.experiment.plans,
                 question_.limits, {});
    const std::optional<Seconds> step = axis.step(question_.plan, x);
    const std::optional<Seconds> given = axis.step(0, x);
    const std::optional<Seconds> rival = axis.rival_step(x);
    if (!step || !given || !rival) {
      return std::nullopt;
    }
    return FrontierValue{*given / *step, *rival / *step, axis.fits(question_.plan, x)};
  }

  const FrontierQuestion& question_;
  std::map<std::pair<double, double>, std::optional<FrontierValue>> values_;
};

// Where the ratio is one between two places of one edge, of which exactly one has a ratio above it.
class Crossing {
 public:
  Crossing(const FrontierQuestion& question, Map& map, Ratio ratio)
      : question_(question), map_(map), ratio_(ratio) {}

  [[nodiscard]] FrontierPlace find(FrontierPlace a, FrontierPlace b) {
    const bool along_x = a.y == b.y;
    const JobScale& scale = along_x ? question_.x : question_.y;
    const auto of = [along_x](FrontierPlace& place) -> double& {
      return along_x ? place.x : place.y;
    };
    const bool above = ratio_at(a) > 1.0;
    FrontierPlace middle = a;
    while (of(b) / of(a) > 1.0 + resolution) {
      const double value = scale.nearest(std::sqrt(of(a) * of(b)));
      of(middle) = value;
      if (value <= of(a) || value >= of(b) || !map_.at(middle.x, middle.y)) {
        break;
      }
      ((ratio_at(middle) > 1.0) == above ? a : b) = middle;
    }
    of(middle) = straight_zero(of(a), of(b), ratio_at(a), ratio_at(b));
    return middle;
  }

 private:
  [[nodiscard]] double ratio_at(const FrontierPlace& place) {
    return (*map_.at(place.x, place.y)).*ratio_;
  }

  const FrontierQuestion& question_;
  Map& map_;
  Ratio ratio_;
};

// The pieces that share an end, one after the other.
std::vector<FrontierLine> chained(std::vector<LineInCell> pieces) {
  std::vector<FrontierLine> lines;
  const auto extend = [&pieces](FrontierLine& line) {
    const auto next = std::find_if(pieces.begin(), pieces.end(), [&line](const LineInCell& piece) {
      return piece.first == line.back() || piece.second == line.back();
    });
    if (next == pieces.end()) {
      return false;
    }
    line.push_back(next->first == line.back() ? next->second : next->first);
    pieces.erase(next);
    return true;
  };
  while (!pieces.empty()) {
    FrontierLine line{pieces.front().first, pieces.front().second};
    pieces.erase(pieces.begin());
    while (extend(line)) {
    }
    std::reverse(line.begin(), line.end());
    while (extend(line)) {
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

// Marching squares: a cell of the grid whose corners are not all on one side of one has two edges
// that the line crosses, or four. Then the mean of the corners says which ends belong together.
struct Corner {
  FrontierPlace place;
  double ratio{};
};

class Line {
 public:
  // Between two neighbours, of which the first has the smaller coordinates.
  using CrossingOf = std::function<FrontierPlace(const Corner&, const Corner&)>;

  Line(const Frontier& grid, Ratio ratio, CrossingOf crossing)
      : grid_(grid), crossing_(std::move(crossing)), ratio_(ratio) {}

  [[nodiscard]] std::vector<FrontierLine> find() {
    std::vector<LineInCell> all;
    for (std::size_t y = 0; y + 1 < grid_.ys.size(); ++y) {
      for (std::size_t x = 0; x + 1 < grid_.xs.size(); ++x) {
        add_cell(x, y, all);
      }
    }
    return chained(std::move(all));
  }

 private:
  void add_cell(std::size_t x, std::size_t y, std::vector<LineInCell>& all) {
    std::array<Corner, 4> corners{};  // around the cell
    constexpr std::array<std::array<std::size_t, 2>, 4> around{{{0, 0}, {1, 0}, {1, 1}, {0, 1}}};
    double sum = 0.0;
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const std::size_t cx = x + around[i][0];
      const std::size_t cy = y + around[i][1];
      const std::optional<FrontierValue>& value = grid_.at(cx, cy);
      if (!value || !((*value).*ratio_ > 0.0)) {
        return;
      }
      corners[i] = {{grid_.xs[cx], grid_.ys[cy]}, (*value).*ratio_};
      sum += std::log(corners[i].ratio);
    }
    std::vector<FrontierPlace> ends;
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const Corner& a = corners[i];
      const Corner& b = corners[(i + 1) % corners.size()];
      if ((a.ratio > 1.0) != (b.ratio > 1.0)) {
        const bool forward = a.place.x < b.place.x || a.place.y < b.place.y;
        ends.push_back(forward ? crossing_(a, b) : crossing_(b, a));
      }
    }
    // Edges are visited in turn from the first corner. With four ends the pairs as visited cut off
    // the second and the fourth corner, which is right where the middle is on the side of the
    // first.
    if (ends.size() == 4 && (corners[0].ratio > 1.0) != (sum > 0.0)) {
      std::rotate(ends.begin(), ends.begin() + 3, ends.end());
    }
    for (std::size_t i = 0; i + 1 < ends.size(); i += 2) {
      all.emplace_back(ends[i], ends[i + 1]);
    }
  }

  const Frontier& grid_;
  CrossingOf crossing_;
  Ratio ratio_;
};

std::vector<FrontierLine> line_of_predictions(const FrontierQuestion& question,
                                              const Frontier& grid, Map& map, Ratio ratio) {
  Crossing crossing(question, map, ratio);
  return Line(grid, ratio,
              [&crossing](const Corner& a, const Corner& b) {
                return crossing.find(a.place, b.place);
              })
      .find();
}

// By the values at both ends of an edge alone.
std::vector<FrontierLine> straight_line(const Frontier& grid, Ratio ratio) {
  return Line(grid, ratio,
              [](const Corner& a, const Corner& b) {
                return a.place.y == b.place.y
                           ? FrontierPlace{straight_zero(a.place.x, b.place.x, a.ratio, b.ratio),
                                           a.place.y}
                           : FrontierPlace{a.place.x,
                                           straight_zero(a.place.y, b.place.y, a.ratio, b.ratio)};
              })
      .find();
}

// Why a place has no value.
void add_reason(const std::optional<Experiment>& job, std::size_t plan, Frontier& frontier) {
  frontier.lacks_jobs = frontier.lacks_jobs || !job;
  if (job && frontier.why_not.empty()) {
    const Problems problems = problems_of_plan(*job, plan);
    frontier.why_not = problems.empty() ? "" : problems.front().message;
  }
}

}  // namespace

Frontier find_frontier(const FrontierQuestion& question) {
  Frontier frontier{question.x.values, question.y.values, {}, {}, {}};
  Map map(question);
  for (const double y : frontier.ys) {
    for (const double x : frontier.xs) {
      frontier.values.push_back(map.at(x, y));
      if (!frontier.values.back()) {
        add_reason(map.job(x, y), question.plan, frontier);
      }
    }
  }
  frontier.even = line_of_predictions(question, frontier, map, &FrontierValue::speedup);
  frontier.even_with_remedy =
      line_of_predictions(question, frontier, map, &FrontierValue::against_remedy);
  return frontier;
}

void add_straight_lines(Frontier& grid) {
  grid.even = straight_line(grid, &FrontierValue::speedup);
  grid.even_with_remedy = straight_line(grid, &FrontierValue::against_remedy);
}

}  // namespace payoff
