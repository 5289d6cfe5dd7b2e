// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cli/command_line.hpp"
#include "cli/observed_run.hpp"
#include "cli/session.hpp"
#include "study/observed.hpp"

namespace payoff {

inline constexpr OptionSpec observed_option{
    "--observed", "step=TIME,...",
    "what your uncompressed job takes: step=412ms,exposed=110ms@dp=32 (noise=2% may be added), or "
    "a trace of PyTorch's profiler: rank0.json@dp=32; or what nccl-tests printed: all_reduce.txt; "
    "several times for several sizes (@dp or @nodes) and runs",
    Takes::values};

struct ObservedJob {
  Observation observation;
  Argument written;
};

// All of them, each kind in its order.
struct Measurements {
  std::vector<ObservedJob> jobs;
  std::vector<ObservedRun> runs;

  [[nodiscard]] std::vector<Observation> observations() const;
  [[nodiscard]] std::vector<ObservedCollective> collectives() const;
};

// Without those that are wrong, which was reported.
[[nodiscard]] Measurements read_measurements(const Arguments& arguments, Session& session);

// What is wrong with them for the experiment that they were measured on, under the option.
void report_measurement_problems(const Experiment& experiment, const Measurements& measurements,
                                 Session& session);

}  // namespace payoff
