// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "profiles/diagnostics.hpp"
#include "profiles/import/json_values.hpp"
#include "profiles/import/samples.hpp"

// What the values of a point may be (docs/schema/samples.schema.json), whichever program measured
// it (internal to the importers).

namespace payoff::import_detail {

inline constexpr std::array<std::string_view, 3> implementation_choices{"fused", "framework_ops",
                                                                        "library"};
inline constexpr std::array<std::string_view, 6> input_choices{"gaussian", "laplace",  "student_t3",
                                                               "constant", "replayed", "none"};
inline constexpr std::array<std::string_view, 2> state_choices{"cold", "hot"};
inline constexpr std::array<std::string_view, 2> mode_choices{"stream", "graph"};
inline constexpr std::array<std::string_view, 2> replaced_precisions{"bf16", "tf32"};
inline constexpr std::array<std::string_view, 5> stop_choices{"noise", "entropy", "time", "count",
                                                              "foreign"};

// What a launch of an hour, the longest sample, moves at 28 TB/s and computes at 278 PFLOP/s:
// beyond them are slips of units.
inline constexpr double most_traffic = 1e17;
inline constexpr double most_flops = 1e21;
inline constexpr double most_count = 1e9;
inline constexpr double highest_clock_ratio = 10.0;
inline constexpr double least_clock_ratio = 1e-3;  // of a clock that stands nothing is timed

// The smallest value of a parameter: 0 where it counts or measures something.
[[nodiscard]] double least_parameter(std::string_view name);

// Whether this is a usual parameter that counts or measures something.
[[nodiscard]] bool counts_something(std::string_view name);

// "one of a, b, c"
[[nodiscard]] std::string one_of(std::span<const std::string_view> values);

// "did you mean `x`?", or all of the values where none is near.
[[nodiscard]] std::string nearest_of(std::string_view word,
                                     std::span<const std::string_view> values);

// The text of a key that has to be one of these; reports any other.
std::string choice_of(JsonValues& values, const Node& map, std::string_view key,
                      std::span<const std::string_view> choices);

// The precision that a kernel stands in for, where it does.
void check_instead(const Node& map, JsonValues& values);

// The text of `kernel`, of a-z, 0-9 and _.
std::string kernel_of(JsonValues& values, const Node& map);

// The numbers by name of `parameters`.
std::map<std::string, double> parameters_of(JsonValues& values, const Node& map);

// Reports every amount of a point that no kernel has; times are checked where they are read.
void report_impossible(const SamplesPoint& point, Diagnostics& diagnostics);

}  // namespace payoff::import_detail
