// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "profiles/document.hpp"

namespace payoff {

// The first bytes of a file, `most` of them, to tell what it is; empty where it cannot be read.
[[nodiscard]] std::string beginning_of(const std::filesystem::path& file, std::size_t most);

// All of it. Throws std::runtime_error naming a file that cannot be read, a folder, and what has
// more than `largest` bytes: a device may have no end.
[[nodiscard]] std::string contents_of(const std::filesystem::path& file,
                                      std::size_t largest = largest_measurements);

// Of results: a sweep may have millions of them, so that a file is read whatever its size. What is
// no file is held to the usual bound.
[[nodiscard]] std::string results_in(const std::filesystem::path& file);

}  // namespace payoff
