// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace payoff {

// The first bytes of a file, `most` of them, to tell what it is; empty where it cannot be read.
[[nodiscard]] std::string beginning_of(const std::filesystem::path& file, std::size_t most);

// All of it. Throws std::runtime_error naming a file that cannot be read, and a folder.
[[nodiscard]] std::string contents_of(const std::filesystem::path& file);

}  // namespace payoff
