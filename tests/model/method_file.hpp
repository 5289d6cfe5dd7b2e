// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/compression.hpp"

// The shipped methods for tests of the model, which knows no files: no diagnostics, no units, every
// surprise is a failed requirement.

namespace method_file {

// profiles/compression/NAME.yaml with some parameters changed. The time law is left zero.
[[nodiscard]] payoff::Method load(const std::string& name,
                                  const std::map<std::string, double>& parameters = {});

[[nodiscard]] std::vector<std::string> names();

// "as_published" or "as_implemented": what the messages of the file add up to.
[[nodiscard]] std::string wire_used(const std::string& name);

}  // namespace method_file
