// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/repeated_keys.hpp"
#include "cli/session.hpp"
#include "profiles/document.hpp"
#include "profiles/read_experiment.hpp"
#include "study/sweep.hpp"

// `--over KEY=VALUES`: a key of the experiment, or the name of the option that stands for it, and
// a series (8..4096:x2, '25 Gb/s'..'3.2 Tb/s':x2) or a list of names. `compress` is no axis of
// jobs: its methods are strategies of every job.

namespace payoff {

inline constexpr OptionSpec over_option{"--over", "KEY=VALUES",
                                        "an axis: nodes=8..64:x2, compress=none,fp16, cluster=a,b",
                                        Takes::values};

// A value as it goes into results: numbers in SI under a key that ends in their unit.
struct AxisColumn {
  std::string name;             // "cluster.inter.bandwidth_bytes_per_second"
  std::vector<double> numbers;  // empty where values are names
  bool whole{};                 // counts
};

// Where an axis stands: its key, and its values, each or (of a series) all at one place.
struct AxisPlace {
  Span key;
  std::vector<Span> values;
  // Its values could not be read, which was reported: its one value is all of its text, so that
  // what else is wrong with the sweep is found in the same run.
  bool failed{};

  [[nodiscard]] Span value(std::size_t index) const {
    return values.size() == 1 ? values.front() : values[index];
  }
};

struct SweepInput {
  std::vector<SweepAxis> axes;  // of jobs
  std::vector<AxisColumn> columns;
  std::vector<Argument> arguments;  // of each axis
  std::vector<AxisPlace> places;
  std::optional<Node> methods;   // the list that `compress` is
  std::vector<WrittenKey> keys;  // of all, compress included

  [[nodiscard]] bool is_key(std::size_t axis, Span span) const;
  // Whether what is at `span` is this value of the axis.
  [[nodiscard]] bool is_value(std::size_t axis, std::size_t value, Span span) const;
  [[nodiscard]] bool has_failed() const;
  // Puts the methods over the document, as --compress does.
  void put_methods(Node& root, Diagnostics& diagnostics) const;
};

// Takes "none" out of the list of strategies: the uncompressed job is in every sweep and survey,
// and each item that is left is the strategy of its place.
void leave_out_none(Node& root);

[[nodiscard]] SweepInput read_axes(const Arguments& arguments, Session& session);

// The `over` of a grid's file, `KEY: VALUES` each, where values are a series or a list; it is taken
// out of the document. Then those of the command line.
[[nodiscard]] SweepInput take_axes(Node& root, const Arguments& arguments, Session& session);

}  // namespace payoff
