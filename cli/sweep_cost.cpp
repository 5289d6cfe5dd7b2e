// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_cost.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/simulation_cost.hpp"
#include "cli/sweep_folding.hpp"
#include "cli/sweep_shared.hpp"
#include "cli/table.hpp"
#include "study/simulation.hpp"

namespace payoff {
namespace {

constexpr std::uint64_t tried = 8;

// Of all strategies of a job; nothing of those that are refused. Why its ranks do not fold is added
// to the reasons.
sim::Estimate estimate_job(const SweepQuestion& question, std::uint64_t number,
                           std::set<std::string>& not_folded) {
  SourceMap sources = question.sources;
  Diagnostics diagnostics;
  const std::optional<ReadExperiment> read =
      read_job(question, question.design.job(number), sources, diagnostics);
  sim::Estimate all;
  if (!read) {
    return all;
  }
  const PreparedExperiment prepared(read->experiment);
  Simulation simulation(prepared, read->cluster_state, question.simulation);
  for (const CompressionPlan& plan : read->experiment.plans) {
    const Simulation::Outlook outlook = simulation.outlook(plan);
    if (outlook.problems.empty()) {
      all = together(all, outlook.estimate);
    }
    if (std::string why = why_not_folded(outlook.fold, *read); !why.empty()) {
      not_folded.insert(std::move(why));
    }
  }
  return all;
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Jobs that share their preparation: what comes first of it, then many times what neighbours take.
double time_of_shared(const SweepQuestion& question, const Shard& shard) {
  const std::uint64_t own = shard.size(question.design.jobs());
  const std::uint64_t run = std::min<std::uint64_t>(own, 64);
  SharedJobs shared(question);
  double first = 0.0;
  double again = 0.0;
  for (std::uint64_t i = 0; i < tried; ++i) {
    const std::uint64_t from = i * (own - run) / tried;
    first += seconds_of([&] { (void)shared.lines(shard, from, run); });
    again += seconds_of([&] { (void)shared.lines(shard, from, run); });
  }
  const auto jobs = static_cast<double>(tried * run);
  return std::max(0.0, first - again) + again / jobs * static_cast<double>(own);
}

double time_of_all(const SweepQuestion& question, const Shard& shard, bool share) {
  const std::uint64_t own = shard.size(question.design.jobs());
  if (own == 0) {
    return 0.0;
  }
  if (share && SharedJobs::has_any(question)) {
    return time_of_shared(question, shard);
  }
  const std::uint64_t sample = std::min(tried, own);
  const double took = seconds_of([&] {
    for (std::uint64_t i = 0; i < sample; ++i) {
      (void)job_lines(question, shard.job(i * own / sample));
    }
  });
  return took / static_cast<double>(sample) * static_cast<double>(own);
}

// All jobs of the shard, or of many the first and the last ones.
std::string list_of_jobs(const SweepQuestion& question, const Shard& shard) {
  constexpr std::uint64_t most = 24;
  constexpr std::uint64_t first = 12;
  constexpr std::uint64_t last = 4;
  const std::uint64_t own = shard.size(question.design.jobs());
  std::vector<Column> columns{{"job"}};
  for (const SweepAxis& axis : question.design.axes()) {
    columns.push_back({axis.key});
  }
  Table table(columns);
  for (std::uint64_t i = 0; i < own; ++i) {
    if (own > most && i == first) {
      table.add(std::vector<std::string>(columns.size(), "..."));
      i = own - last;
    }
    const std::uint64_t number = shard.job(i);
    const std::vector<std::size_t> values = question.design.job(number);
    std::vector<std::string> row{std::to_string(number)};
    for (std::size_t a = 0; a < values.size(); ++a) {
      row.push_back(question.design.axes()[a].values[values[a]]);
    }
    table.add(std::move(row));
  }
  return table.empty() ? "" : table.markdown() + "\n";
}

}  // namespace

void say_plan(const SweepQuestion& question, const Shard& shard, bool share, Session& session) {
  for (std::size_t a = 0; a < question.design.axes().size(); ++a) {
    const SweepAxis& axis = question.design.axes()[a];
    session.out() << fmt::format("{}: {} values, {} to {}\n", axis.key, axis.values.size(),
                                 axis.values.front(), axis.values.back());
  }
  session.out() << "\n" << list_of_jobs(question, shard);
  const std::uint64_t own = shard.size(question.design.jobs());
  session.out() << fmt::format(
      "{} jobs of {} strategies: {} results{}\n", own, question.strategies.size(),
      own * question.strategies.size(),
      shard.of > 1 ? fmt::format(" of this shard ({} of {})", shard.index, shard.of) : "");
  session.note(fmt::format("about {:.3g} s on one core", time_of_all(question, shard, share)));
}

void announce_simulations(const SweepQuestion& question, const Shard& shard, std::uint64_t first,
                          Session& session) {
  const std::uint64_t end = shard.size(question.design.jobs());
  if (question.engine != Engine::simulated || first >= end) {
    return;
  }
  const std::uint64_t jobs = end - first;
  const std::uint64_t samples = std::min(tried, jobs);
  sim::Estimate all;
  std::set<std::string> not_folded;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const std::uint64_t job = shard.job(first + i * jobs / samples);
    all = together(all, estimate_job(question, job, not_folded));
  }
  const double scale = static_cast<double>(jobs) / static_cast<double>(samples);
  all.events = static_cast<std::uint64_t>(std::ceil(static_cast<double>(all.events) * scale));
  all.trace = 0_B;
  announce_long_run(all, " after the jobs that are under way",
                    not_folded.empty()
                        ? ""
                        : fmt::format("ranks are not folded: {}", fmt::join(not_folded, "; or ")),
                    session);
}

}  // namespace payoff
