// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.hpp"

namespace payoff {

std::vector<Command> all_commands() {
  return {predict_command(), simulate_command(), explain_command(),    run_command(),
          plot_command(),    diff_command(),     rerun_command(),      search_command(),
          switch_command(),  survey_command(),   advise_command(),     report_command(),
          sweep_command(),   merge_command(),    collective_command(), profiles_command(),
          methods_command(), check_command(),    validate_command(),   calibrate_command(),
          import_command(),  schema_command(),   completion_command(), man_command()};
}

}  // namespace payoff
