// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "model/job_numbers.hpp"

// Keys of an experiment that say one of its JobNumbers and, as the reader takes them, nothing else:
// jobs that differ in these alone need not be read one by one.

namespace payoff {

struct NumberAxis {
  std::string_view key;                                  // "cluster.nodes"
  void (*take)(const JobNumbers& from, JobNumbers& to);  // what the key says
  bool counts_samples;  // of a step: what `layout.global_batch` says is read together with it
};

// Null where the key says other things too.
[[nodiscard]] const NumberAxis* find_number_axis(std::string_view key);

}  // namespace payoff
