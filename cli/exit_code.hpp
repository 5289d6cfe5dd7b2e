// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the program tells the shell. A prediction that compression does not pay is a result, not an
// error: only `--fail-if-no-payoff` turns it into an exit code.

namespace payoff {

enum class ExitCode {
  success = 0,
  failure = 1,       // the world: a file is missing, the disk is full, gnuplot is absent
  bad_input = 2,     // the user's input; everything that is wrong with it was printed
  check_failed = 3,  // a check that was asked for says no
};

}  // namespace payoff
