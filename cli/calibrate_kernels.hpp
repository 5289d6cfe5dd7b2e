// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/session.hpp"

// payoff calibrate run, import, fit SAMPLES.json..., show, check, diff: from a GPU to the laws of
// its kernels; needs: which of them an experiment asks for.

namespace payoff {

// What stands behind `payoff calibrate`: whether it is one of these and not a fit of shipped laws,
// which `is_law` knows by name. Of what a fit is given, any other file is of samples.
[[nodiscard]] bool is_about_kernels(const Arguments& arguments, bool (*is_law)(std::string_view));

[[nodiscard]] ExitCode calibrate_kernels_command(const Arguments& arguments, Session& session);

}  // namespace payoff
