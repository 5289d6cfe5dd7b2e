// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

// What a check has to say about an input that cannot be computed. The model knows nothing of
// files: it names the field by its path in the experiment ("layout.tp"), and the reader that
// knows where the field was written adds the position and prints the caret.

namespace payoff {

struct Problem {
  std::string path;     // dotted path of the offending field, e.g. "cluster.inter.bandwidth"
  std::string message;  // what is wrong, one line, no full stop
  std::string help;     // what to do about it; may be empty
};

using Problems = std::vector<Problem>;

}  // namespace payoff
