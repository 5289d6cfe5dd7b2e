// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "cli/session.hpp"
#include "profiles/read_hardware.hpp"

// Files of which `payoff check` looks for mistakes alone: profiles by the reader of their kind;
// grids of `payoff survey` by a job of every value, and fitted laws by every profile that takes one
// of them. The last two say what there is to say of a file without mistakes.

namespace payoff {

// A shipped one by its name, one of the user's own by its path; models have files of other forms.
void read_for_mistakes(ProfileKind kind, const std::string& name, const ReadContext& context);

[[nodiscard]] std::string check_survey(const std::filesystem::path& file, Session& session);

// Of a folder of profiles.
[[nodiscard]] std::string check_fitted(const std::filesystem::path& file, Session& session);

}  // namespace payoff
