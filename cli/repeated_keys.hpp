// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/session.hpp"

// `--dp 32 --set layout.dp=16`: two values for one key of an experiment on one command line. Which
// one was meant cannot be known.

namespace payoff {

struct WrittenKey {
  std::string path;  // "layout.dp"
  Span span;         // of the argument that gives it a value
};

// Reports keys that get a value twice, and sections that replace a key set before them. In the
// order in which they are applied.
void report_repeated_keys(const std::vector<WrittenKey>& keys, Session& session);

}  // namespace payoff
