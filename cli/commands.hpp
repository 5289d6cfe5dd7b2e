// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cli/command.hpp"

// One function a subcommand, each in the file of its name.

namespace payoff {

[[nodiscard]] Command advise_command();
[[nodiscard]] Command calibrate_command();
[[nodiscard]] Command check_command();
[[nodiscard]] Command collective_command();
[[nodiscard]] Command diff_command();
[[nodiscard]] Command completion_command();
[[nodiscard]] Command explain_command();
[[nodiscard]] Command import_command();
[[nodiscard]] Command man_command();
[[nodiscard]] Command merge_command();
[[nodiscard]] Command methods_command();
[[nodiscard]] Command plot_command();
[[nodiscard]] Command predict_command();
[[nodiscard]] Command profiles_command();
[[nodiscard]] Command run_command();
[[nodiscard]] Command search_command();
[[nodiscard]] Command schema_command();
[[nodiscard]] Command report_command();
[[nodiscard]] Command rerun_command();
[[nodiscard]] Command simulate_command();
[[nodiscard]] Command survey_command();
[[nodiscard]] Command sweep_command();
[[nodiscard]] Command switch_command();
[[nodiscard]] Command validate_command();

[[nodiscard]] std::vector<Command> all_commands();  // in the order of the help

}  // namespace payoff
