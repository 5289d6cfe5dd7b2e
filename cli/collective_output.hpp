// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/json_output.hpp"
#include "model/collective.hpp"
#include "model/hardware.hpp"
#include "model/textbook.hpp"
#include "model/topology.hpp"
#include "sim/collective_steps.hpp"

// The answer of `payoff collective`: as nccl-tests' table, JSON and CSV.

namespace payoff {

struct CollectiveQuestion {
  Collective collective{};
  Cluster cluster;
  Group group;
  std::optional<Algorithm> algorithm;
  std::optional<Protocol> protocol;
  std::vector<Bytes> sizes;
  std::optional<HostLaw> one_process;        // drives all GPUs of a node
  bool textbook{};                           // alpha-beta prices beside ours
  std::optional<Topology> topology;          // at level `steps`
  std::vector<sim::Rank> members;            // of its ranks, those of the group; empty: all
  std::optional<sim::OtherProgram> program;  // instead of NCCL's
  sim::ProgramDetails details;
};

struct CollectiveRow {
  Bytes size{};
  CollectivePrice price;
  Bandwidth algbw{};
  Bandwidth busbw{};
  std::optional<TextbookAllReduce> textbook;  // where asked for
  // At level `steps`: the program and what its sends take, or the reason why there is none.
  std::optional<sim::CollectiveSteps> steps{};
  std::string program{};
  std::string no_steps{};
};

[[nodiscard]] Rendering render_collective(const CollectiveQuestion& question,
                                          const std::vector<CollectiveRow>& rows,
                                          const Session& session);

}  // namespace payoff
