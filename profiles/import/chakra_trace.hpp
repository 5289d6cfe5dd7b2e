// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/collective_kind.hpp"
#include "profiles/import/finding.hpp"

// A Chakra execution trace of MLCommons: what one rank does in a run, as a graph of nodes
// (schema/protobuf/et_def.proto of mlcommons/chakra, schema 0.0.4 to 1.0.0). The file is a stream
// of protobuf messages, each after its length as a varint: a GlobalMetadata, then Nodes. What the
// schema calls attributes is read by the names that Chakra's converter and generator give them
// (is_cpu_op, stream, tid, comm_type, comm_size, tensor_size, pg_name). Fields and attributes that
// are not known here are read over. Positions are bytes from the file's beginning.

namespace payoff {

// NodeType of the schema; 0 is INVALID_NODE.
enum class ChakraNodeType : std::uint8_t {
  metadata = 1,
  mem_load,
  mem_store,
  compute,
  send,
  receive,
  collective
};
inline constexpr int chakra_node_type_count = 8;
[[nodiscard]] std::string_view name(ChakraNodeType type);  // "COMP_NODE"

// CollectiveCommType of the schema.
enum class ChakraCollective : std::uint8_t {
  all_reduce,
  reduce,
  all_gather,
  gather,
  scatter,
  broadcast,
  all_to_all,
  reduce_scatter,
  reduce_scatter_block,
  barrier
};
inline constexpr int chakra_collective_count = 10;
[[nodiscard]] std::string_view name(ChakraCollective collective);  // "ALL_REDUCE"
// Nothing for what has no law here (gather, scatter); a barrier of PyTorch is an all_reduce.
[[nodiscard]] std::optional<Collective> collective_of(ChakraCollective collective);

struct ChakraNode {
  std::uint64_t id{};
  std::string name;
  ChakraNodeType type{};
  std::uint64_t start_us{};  // 0: not told
  std::uint64_t duration_us{};
  std::uint64_t offset{};          // of its message, behind the length
  std::vector<std::uint64_t> ids;  // of what it waits for, by control or data
  std::vector<std::size_t> waits;  // the same as places in ChakraTrace::nodes, each once
  bool on_host{};
  std::optional<std::int64_t> stream;  // of the GPU
  std::optional<std::int64_t> thread;  // of the host
  std::optional<ChakraCollective> collective;
  std::optional<std::uint64_t> bytes;  // comm_size, else tensor_size: what this rank puts in
  std::string group;                   // pg_name; empty: not told

  [[nodiscard]] bool communicates() const { return type >= ChakraNodeType::send; }
};

struct ChakraGroup {
  std::string name;
  std::string description;  // "default_pg", "mesh_tp"; may be empty
  int ranks{};
};

struct ChakraTrace {
  std::string file;
  std::string version;  // of the schema, as the file says
  std::uint64_t bytes{};
  std::vector<ChakraNode> nodes;    // in the file's order
  std::vector<std::size_t> order;   // of them, each after what it waits for
  std::vector<ChakraGroup> groups;  // those that a process_group:init node tells
  int steps{};                      // nodes named ProfilerStep#N, each N once
  Findings findings;

  [[nodiscard]] bool is_whole() const;  // nothing was rejected
};

// Errors name the byte and the node. A message whose length cannot be is the last one looked at;
// what is wrong within a message, and what nodes say of each other, is all told, to a limit.
[[nodiscard]] ChakraTrace read_chakra(std::istream& stream, const std::string& file);

}  // namespace payoff
