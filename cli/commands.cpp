// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.hpp"

namespace payoff {

std::vector<Command> all_commands() {
  return {predict_command(), simulate_command(), explain_command(),    plot_command(),
          sweep_command(),   merge_command(),    collective_command(), profiles_command(),
          methods_command(), check_command(),    validate_command(),   calibrate_command()};
}

}  // namespace payoff
