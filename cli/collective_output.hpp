// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "cli/json_output.hpp"
#include "model/collective.hpp"
#include "model/hardware.hpp"

// The answer of `payoff collective`: as nccl-tests' table, JSON and CSV.

namespace payoff {

struct CollectiveQuestion {
  Collective collective{};
  Cluster cluster;
  Group group;
  std::optional<Algorithm> algorithm;
  std::optional<Protocol> protocol;
  std::vector<Bytes> sizes;
};

struct CollectiveRow {
  Bytes size{};
  CollectivePrice price;
  Bandwidth algbw{};
  Bandwidth busbw{};
};

[[nodiscard]] Rendering render_collective(const CollectiveQuestion& question,
                                          const std::vector<CollectiveRow>& rows,
                                          const Session& session);

}  // namespace payoff
