// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "kernels/program/session.hpp"

namespace payoff::kernels {
namespace {

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::string seconds_text(Seconds time) { return std::to_string(std::lround(time / 1.0_s)) + " s"; }

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

// As wide as the longest word of each asks for, and two spaces.
std::string in_columns(const std::vector<std::array<std::string, 4>>& rows) {
  std::array<std::size_t, 4> widths{};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size() + 2);
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += padded(row[i], widths[i]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

std::string list_text(const std::vector<Job>& jobs, std::size_t neighbours) {
  struct Line {
    std::size_t points{};
    std::set<std::string> needs;  // of some points: products of fp8 have a library of their own
  };
  std::map<std::pair<std::string, std::string>, Line> lines;
  for (const Job& job : jobs) {
    const Point& point = job.benchmark.point;
    Line& line = lines[{point.kernel + " (" + point.implementation + ")", point.family}];
    ++line.points;
    if (!job.benchmark.needs.empty()) {
      line.needs.insert(job.benchmark.needs);
    }
  }
  std::vector<std::array<std::string, 4>> rows{{"kernel", "family", "points", "needs"}};
  for (const auto& [key, line] : lines) {
    rows.push_back({key.first, key.second, std::to_string(line.points), joined(line.needs)});
  }
  if (neighbours > 0) {
    rows.push_back({"of these, some beside each other", std::string(interference_name),
                    std::to_string(neighbours), ""});
  }
  return in_columns(rows);
}

std::string dry_run_text(const std::vector<Job>& jobs, const std::vector<Neighbours>& neighbours,
                         const Budget& budget) {
  std::string text;
  for (const Job& job : jobs) {
    text += title_of(job.benchmark.point) + (job.mode == Mode::graph ? ", graph\n" : "\n");
  }
  for (const Neighbours& each : neighbours) {
    text += title_of(each) + "\n";
  }
  const auto together = static_cast<double>(neighbours.size());
  const Seconds time = longest_time(jobs, budget) + together * longest_of_neighbours;
  if (!neighbours.empty()) {
    text += std::to_string(neighbours.size()) + " runs beside each other, ";
  }
  return text + std::to_string(jobs.size()) + " points, at most " +
         seconds_text(std::min(time, budget.longest)) + "\n";
}

}  // namespace payoff::kernels
