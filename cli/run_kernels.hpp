// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

// Runs payoff-kernels (kernels/), which measures the GPU of this machine. Its progress goes to the
// terminal as it is.

namespace payoff {

struct KernelRun {
  std::string program;  // a path, or a name that is looked for in $PATH
  std::vector<std::string> words;
};

// The program does not take its arguments, and has said why.
class RefusedArguments : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws std::runtime_error where the program is absent, finds no GPU, or fails. Where only some
// points failed and the file of the others (`--out`) was written, warns beside its progress.
void run_kernels(const KernelRun& run);

}  // namespace payoff
