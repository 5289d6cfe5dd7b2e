// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

// The shards of a sweep (cli/sweep_log.hpp) as one.

namespace payoff {

// All shards of one sweep as one file: the text of it. Throws RefusedFiles that says which
// files ask another question, are given twice, are unfinished or missing, or cannot be read.
[[nodiscard]] std::string merged_log(const std::vector<std::filesystem::path>& files);

}  // namespace payoff
