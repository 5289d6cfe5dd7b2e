// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

// Where a result goes that is written under a name.

namespace payoff {

// A pipe, a terminal, /dev/null: written in place, and nothing there can be lost.
[[nodiscard]] bool is_special(const std::filesystem::path& path);

// The file or the pipe that standard output or standard error goes to, under whatever name: what is
// written there too would be mixed with it, or put in its place. Not a device: /dev/null takes all.
[[nodiscard]] bool is_standard_stream(const std::filesystem::path& path);

// The file itself where the name is a symbolic link, be the file there or not: it is replaced, and
// the link is kept. Throws std::runtime_error where links lead around in a circle.
[[nodiscard]] std::filesystem::path target_of(const std::filesystem::path& path);

}  // namespace payoff
