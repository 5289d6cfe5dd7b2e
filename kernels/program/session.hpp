// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/program/options.hpp"
#include "kernels/program/samples_file.hpp"

// What payoff-kernels does once its arguments are read: lists, plans, checks, measures. The same on
// the GPU and on the emulated grid.

namespace payoff::kernels {

// A benchmark in the way it is launched. Chains of kernels are measured launch by launch and as a
// graph; chains of hundreds only as a graph, since the queue behind a waiting kernel is finite.
struct Job {
  Benchmark benchmark;
  Mode mode{Mode::stream};
};

// Those that --only leaves. A name that matches nothing goes to `unknown`.
[[nodiscard]] std::vector<Job> chosen_jobs(const Plan& plan, const std::vector<std::string>& only,
                                           std::vector<std::string>& unknown);

// All that --only knows.
[[nodiscard]] std::vector<std::string> names_for_only(const Plan& plan);

struct Budget {
  StopRule rule;
  Seconds longest{};  // of the whole run: what does not fit is left out, and said
};

[[nodiscard]] Budget budget_of(bool full);
// What is left is shared out, so that the last families of a long plan get samples too, and not
// only the first; the last point leaves time for the anchor, and each for its memory and inputs.
[[nodiscard]] Seconds share_of_point(const Budget& budget, Seconds spent, std::size_t points);
// An upper estimate: every point takes as long as it may.
[[nodiscard]] Seconds longest_time(const std::vector<Job>& jobs, const Budget& budget);

struct LeftOut {
  std::string title;
  std::string reason;
};

struct Outcome {
  std::vector<MeasuredPoint> points;
  std::vector<MeasuredNeighbours> neighbours;
  std::vector<Anchor> anchors;
  std::vector<LeftOut> left_out;  // did not fit, or lacks a library
  std::vector<LeftOut> failed;
};

using Report = std::function<void(std::string_view)>;  // a line of progress
using Clock = std::function<Seconds()>;                // since the start

inline constexpr double memory_share = 0.6;  // of what is free, for one benchmark
// The benchmark, or what stands in for it where the device is too old.
[[nodiscard]] const Benchmark& suited(const Benchmark& benchmark, const Machine& machine);
// The same of jobs; what would be another one's point stays as it is, and is left out.
[[nodiscard]] std::vector<Job> suited(std::vector<Job> jobs, const Machine& machine);
// A library, a capability or memory that is not there; empty: it can be measured.
[[nodiscard]] std::string why_left_out(const Benchmark& benchmark, const Machine& machine);

[[nodiscard]] Outcome measure_all(const std::vector<Job>& jobs, const Machine& machine,
                                  const Budget& budget, const Clock& clock, const Report& report);

// The name that --only knows kernels beside each other by.
inline constexpr std::string_view interference_name = "interference";
[[nodiscard]] std::vector<Neighbours> chosen_neighbours(const Plan& plan,
                                                        const std::vector<std::string>& only);
// Of the budget, what is left for points; the rest is for kernels beside each other.
[[nodiscard]] Budget budget_of_points(const Budget& budget, std::size_t neighbours);
// A copy that is long enough to show drift, and small enough to be quick.
[[nodiscard]] Benchmark anchor_copy(const Machine& machine);
// Of this machine. Without a copy, and with the reason in `outcome`, where there is no room for it.
[[nodiscard]] NeighbourInstruments instruments_of(const Machine& machine, Outcome& outcome);
// Adds to an outcome, as long as the budget lasts and the device is not lost.
void measure_neighbours(const std::vector<Neighbours>& all, const Machine& machine,
                        const Budget& budget, const Clock& clock, const Report& report,
                        const NeighbourInstruments& instruments, Outcome& outcome);

// Runs every job of the check plan once and compares; what differs is in `failed`, what could not
// be compared in `left_out`: no point is in neither.
[[nodiscard]] Outcome check_all(const std::vector<Job>& jobs, const Report& report);

[[nodiscard]] std::string list_text(const std::vector<Job>& jobs, std::size_t neighbours);
[[nodiscard]] std::string dry_run_text(const std::vector<Job>& jobs,
                                       const std::vector<Neighbours>& neighbours,
                                       const Budget& budget);

}  // namespace payoff::kernels
