// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "profiles/import/chakra_trace.hpp"

// One message of a Chakra trace, from its bytes (internal to the reader).

namespace payoff::import_detail {

struct MalformedMessage {
  std::size_t offset{};  // within the message
  std::string what;
};

// The parts of a node that the whole file says nothing of: `waits` and `offset` stay as they are.
// `values` are those of the node's inputs, which tell the process groups.
[[nodiscard]] std::optional<MalformedMessage> read_chakra_node(std::string_view message,
                                                               ChakraNode& node,
                                                               std::string& values);

[[nodiscard]] std::optional<MalformedMessage> read_chakra_metadata(std::string_view message,
                                                                   std::string& version);

}  // namespace payoff::import_detail
