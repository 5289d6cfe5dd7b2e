// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "cli/json_output.hpp"
#include "model/collective.hpp"
#include "model/hardware.hpp"
#include "model/textbook.hpp"

// The answer of `payoff collective`: as nccl-tests' table, JSON and CSV.

namespace payoff {

struct CollectiveQuestion {
  Collective collective{};
  Cluster cluster;
  Group group;
  std::optional<Algorithm> algorithm;
  std::optional<Protocol> protocol;
  std::vector<Bytes> sizes;
  std::optional<HostLaw> one_process;  // drives all GPUs of a node
  bool textbook{};                     // alpha-beta prices beside ours
};

struct CollectiveRow {
  Bytes size{};
  CollectivePrice price;
  Bandwidth algbw{};
  Bandwidth busbw{};
  std::optional<TextbookAllReduce> textbook;  // where asked for
};

[[nodiscard]] Rendering render_collective(const CollectiveQuestion& question,
                                          const std::vector<CollectiveRow>& rows,
                                          const Session& session);

}  // namespace payoff
