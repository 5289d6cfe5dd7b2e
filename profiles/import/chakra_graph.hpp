// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiles/import/chakra_trace.hpp"

// What the nodes of a Chakra trace say of each other (internal to the reader).

namespace payoff::import_detail {

// More findings than these say nothing that the first ones do not.
inline constexpr std::size_t most_chakra_findings = 20;

void reject(ChakraTrace& trace, std::uint64_t offset, std::string entry, std::string message);

// Fills `waits` and `order`: ids that come twice, that no node has, and nodes that wait for each
// other are findings.
void join_nodes(ChakraTrace& trace);

// The ranks of groups, as the input of `process_group:init` tells them: JSON within a text, of
// PyTorch's execution trace observer. What cannot be read there says nothing.
[[nodiscard]] std::vector<ChakraGroup> groups_told(const std::string& values);

}  // namespace payoff::import_detail
