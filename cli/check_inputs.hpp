// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "cli/session.hpp"

// Kinds of files that no single reader reads: grids of `payoff survey`, by a job of every value,
// and fitted laws, by every profile that takes one of them. Each says what there is to say of a
// file without mistakes.

namespace payoff {

[[nodiscard]] std::string check_survey(const std::filesystem::path& file, Session& session);

// Of a folder of profiles.
[[nodiscard]] std::string check_fitted(const std::filesystem::path& file, Session& session);

}  // namespace payoff
