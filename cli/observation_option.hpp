// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/session.hpp"
#include "study/observed.hpp"

namespace payoff {

inline constexpr OptionSpec observed_option{
    "--observed", "step=TIME,...",
    "what your uncompressed job takes: step=412ms,exposed=110ms@dp=32 (noise=2% may be added), or "
    "a "
    "trace of PyTorch's profiler: rank0.json@dp=32; several times for several sizes: @dp or @nodes",
    Takes::values};

// Empty where the option is not given, and where it is wrong: that was reported.
[[nodiscard]] std::optional<Observation> read_observation(const Arguments& arguments,
                                                          Session& session);
// All of them, in order.
[[nodiscard]] std::vector<Observation> read_observations(const Arguments& arguments,
                                                         Session& session);

// What is wrong with it for the experiment that it was measured on, under the option.
void report_observation_problems(const Experiment& experiment,
                                 const std::vector<Observation>& observations,
                                 const Arguments& arguments, Session& session);

}  // namespace payoff
