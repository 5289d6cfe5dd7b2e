// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/collective.hpp"
#include "model/hardware.hpp"
#include "model/layout.hpp"
#include "model/problem.hpp"
#include "profiles/import/chakra_trace.hpp"
#include "study/trace_replay.hpp"

// One rank's trace on any number of ranks: what it computes stays as it was traced, and what it
// communicates is priced anew by the law of collectives (model/collective.hpp), in the group that
// plays the same role in the layout of the other job: its data-parallel ranks, its tensor-parallel
// ones, all of them. Every rank does what the traced one did: the batch grows with the
// data-parallel ranks. Buffers stay as large as they were; of a sharded one every rank has a
// smaller part.

namespace payoff {

enum class TraceRole : std::uint8_t { all, dp, tp, cp, ep, pp };
[[nodiscard]] const std::vector<std::pair<std::string, TraceRole>>& trace_role_names();
[[nodiscard]] std::string_view name(TraceRole role);

// What a group of the trace (pg_name; `*`: those that are not named) is in the job.
struct TraceGroupRole {
  std::string group;
  TraceRole role{};
  int traced_ranks{};  // 0: as the trace tells
};

struct TraceJob {
  Cluster cluster;  // with its nodes
  ParallelLayout layout;
  std::vector<TraceGroupRole> roles;  // none needed where the job is data-parallel only
};

// Messages that differ in their time only.
struct TraceMessages {
  ChakraNodeType type{};
  std::optional<ChakraCollective> collective;
  std::string group;
  std::uint64_t bytes{};           // of one call, as the trace says: what a rank puts in
  std::vector<std::size_t> nodes;  // in the file's order
  Seconds told{};                  // all of them together
};
[[nodiscard]] std::vector<TraceMessages> messages_of(const ChakraTrace& trace);
[[nodiscard]] std::string_view kind_name(const TraceMessages& messages);  // "ALL_REDUCE"

// Ranks of a group as the trace tells them; 0: it does not.
[[nodiscard]] int told_ranks(const ChakraTrace& trace, const std::string& group);

struct PricedMessages {
  TraceRole role{};
  Group ranks{};
  Bytes size{};  // as nccl-tests counts it
  CollectivePrice price;
};

// What a message is in the job; nothing where its group has no role there.
[[nodiscard]] std::optional<TraceRole> role_in(const TraceJob& job, const TraceMessages& messages);

struct RepricedTrace {
  std::vector<PricedMessages> messages;  // of messages_of, one for one
  std::vector<Seconds> durations;        // of each node
  std::vector<double> relative_sd;       // of those that communicate
  TraceReplay replay;
  Seconds sd{};  // of its wall: what the law may be off in the messages of the longest chain
};

// What the job cannot express, or the trace does not tell.
[[nodiscard]] Problems check_trace_job(const ChakraTrace& trace,
                                       const std::vector<TraceMessages>& messages,
                                       const TraceJob& job);

// `job` has no problem of those.
[[nodiscard]] RepricedTrace reprice(const ChakraTrace& trace,
                                    const std::vector<TraceMessages>& messages,
                                    const TraceJob& job);

}  // namespace payoff
