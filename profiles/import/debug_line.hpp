// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "model/collective_kind.hpp"
#include "profiles/import/element_types.hpp"

// One line of what NCCL and RCCL print with NCCL_DEBUG=INFO (internal to the reader of such logs).
// The forms are those of INFO() in src/enqueue.cc, src/init.cc and src/transport/*.cc of
// NVIDIA/nccl from 2.4 to 2.28; whatever another program puts before them is read over.

namespace payoff::import_detail {

// "AllReduce: opCount 1a sendbuff 0x7f recvbuff 0x7f count 64 datatype 7 op 0 root 0 comm 0x7f
// [nranks=2] stream 0x7f". The count is that of the call's argument, for one rank.
struct DebugCall {
  Collective collective{};
  std::int64_t count{};
  ElementType type;
  int ranks{};
  std::string_view comm;
};

// "ncclCommInitRank comm 0x7f rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId e000 commId 0x3c - Init
// COMPLETE". Before 2.18 there is no commId.
struct DebugInit {
  std::string_view comm;
  std::string_view id;  // empty: not told
  int rank{};
  int ranks{};
  int device{-1};
};

// "comm 0x7f rank 2 nRanks 8 nNodes 2 localRanks 4 localRank 2 MNNVL 0"
struct DebugNodes {
  std::string_view comm;
  int nodes{};
};

// "comm 0x7f rank 0 nranks 2 cudaDev 0 busId e000 - Destroy COMPLETE": the pointer may come again.
struct DebugEnd {
  std::string_view comm;
};

// "Channel 00/0 : 1[0] -> 2[0] [receive] via NET/IB/1/GDRDMA"
struct DebugConnection {
  std::string transport;  // "NET/IB GDRDMA", "P2P/CUMEM", "SHM"
};

// "24 coll channels, 24 collnet channels, ..."
struct DebugChannels {
  int channels{};
};

// "NCCL version 2.21.5+cuda12.4"
struct DebugVersion {
  std::string_view version;
};

// A call of a kind that has no messages of ours, with its name.
struct DebugOtherCall {
  std::string_view name;
};

struct DebugMistake {
  std::size_t offset{};  // in the line
  std::string message;
};

struct DebugLine {
  std::string_view host;
  std::string_view process;  // "host:pid"
  int device{-1};            // of the process, as it counts them; -1: not told
  std::variant<std::monostate, DebugCall, DebugInit, DebugNodes, DebugEnd, DebugConnection,
               DebugChannels, DebugVersion, DebugOtherCall, DebugMistake>
      what;
};

// Nothing was said in a line whose `what` is empty.
[[nodiscard]] DebugLine parse_debug_line(std::string_view line);

}  // namespace payoff::import_detail
