// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "profiles/diagnostics.hpp"
#include "profiles/document.hpp"
#include "profiles/source_map.hpp"

// Who sends to whom in gossip, in a file of the user's own (profiles/README.md has the keys).

namespace payoff {

inline constexpr int most_gossip_ranks = 65'536;

struct ReadGossip {
  std::string name;
  std::string description;
  int ranks{};
  Span ranks_span;                                     // where their number is written
  std::vector<std::vector<std::uint32_t>> neighbours;  // of a rank, whom it sends to; in order
};

// What is wrong is reported: ranks that there are not, a rank and itself, pairs that are there
// twice, ranks in no pair. Throws std::runtime_error where a file cannot be read.
[[nodiscard]] ReadGossip read_gossip(const Document& document, const SourceMap& sources,
                                     Diagnostics& diagnostics);
[[nodiscard]] std::optional<ReadGossip> read_gossip(const std::filesystem::path& file,
                                                    SourceMap& sources, Diagnostics& diagnostics);

}  // namespace payoff
