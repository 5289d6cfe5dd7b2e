// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "kernels/program/session.hpp"

namespace payoff::kernels {
namespace {

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::string seconds_text(Seconds time) { return std::to_string(std::lround(time / 1.0_s)) + " s"; }

}  // namespace

std::string list_text(const std::vector<Job>& jobs, std::size_t neighbours) {
  std::map<std::pair<std::string, std::string>, std::size_t> points;
  std::map<std::pair<std::string, std::string>, std::string> needs;
  for (const Job& job : jobs) {
    const std::pair key{
        job.benchmark.point.kernel + " (" + job.benchmark.point.implementation + ")",
        job.benchmark.point.family};
    ++points[key];
    needs[key] = job.benchmark.needs;
  }
  std::string text = padded("kernel", 38) + padded("family", 12) + padded("points", 8) + "needs\n";
  for (const auto& [key, count] : points) {
    std::string line = padded(key.first, 38) + padded(key.second, 12);
    line += needs[key].empty() ? std::to_string(count) : padded(std::to_string(count), 8);
    text += line + needs[key] + "\n";
  }
  if (neighbours > 0) {
    text += padded("of these, some beside each other", 38) +
            padded(std::string(interference_name), 14) + std::to_string(neighbours) + "\n";
  }
  return text;
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
