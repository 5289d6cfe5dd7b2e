// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "profiles/document.hpp"

namespace payoff {

// A document written back as YAML: what `--save` leaves, and what the hash of an experiment is
// taken over. Reading it gives the same tree; comments and layout are not kept.
[[nodiscard]] std::string written_yaml(const Node& root);

}  // namespace payoff
