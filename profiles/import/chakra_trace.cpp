// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/chakra_trace.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "profiles/import/chakra_graph.hpp"
#include "profiles/import/chakra_message.hpp"

namespace payoff {
namespace {

using import_detail::reject;

constexpr std::uint64_t longest_message = std::uint64_t{1} << 30U;
constexpr std::size_t most_trace_nodes = std::size_t{1} << 30U;

// Messages of a stream, each after its length. A length that lies costs no more memory than what
// the stream has.
class Messages {
 public:
  Messages(std::istream& stream, ChakraTrace& trace) : stream_(stream), trace_(trace) {}

  // nullopt at the end, and where nothing more can be read: that was reported.
  std::optional<std::string> next() {
    const std::uint64_t begin = position_;
    const std::optional<std::uint64_t> length = read_length();
    if (!length) {
      return std::nullopt;
    }
    body_ = position_;
    if (*length > longest_message) {
      reject(
          trace_, begin, "length",
          fmt::format("a message of {} bytes; no more than {} are read", *length, longest_message));
      return std::nullopt;
    }
    std::string message;
    while (message.size() < *length && stream_) {
      constexpr std::uint64_t piece = 1 << 20;
      const std::size_t before = message.size();
      const std::uint64_t wanted = std::min(piece, *length - before);
      message.resize(before + wanted);
      stream_.read(message.data() + before, static_cast<std::streamsize>(wanted));
      message.resize(before + static_cast<std::size_t>(stream_.gcount()));
    }
    position_ += message.size();
    if (message.size() < *length) {
      reject(trace_, begin, "length",
             fmt::format("a message of {} bytes, and the file ends after {} of them", *length,
                         message.size()));
      return std::nullopt;
    }
    return message;
  }

  [[nodiscard]] std::uint64_t body() const { return body_; }
  [[nodiscard]] std::uint64_t position() const { return position_; }

 private:
  std::optional<std::uint64_t> read_length() {
    const std::uint64_t begin = position_;
    std::uint64_t length = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const int byte = stream_.get();
      if (byte == std::istream::traits_type::eof()) {
        if (shift > 0) {
          reject(trace_, begin, "length", "the file ends within the length of a message");
        }
        return std::nullopt;
      }
      ++position_;
      length |= (static_cast<std::uint64_t>(byte) & 0x7FU) << shift;
      if ((static_cast<unsigned>(byte) & 0x80U) == 0) {
        return length;
      }
    }
    reject(trace_, begin, "length", "a length of more than 10 bytes");
    return std::nullopt;
  }

  std::istream& stream_;
  ChakraTrace& trace_;
  std::uint64_t position_{};
  std::uint64_t body_{};
};

// What another form of the same trace begins with.
std::string other_form(int first) {
  constexpr int gzip = 0x1F;
  if (first == gzip) {
    return "; gunzip it first, where it is compressed";
  }
  return first == '{' ? "; where it is JSON: the protobuf form (.et) is read" : "";
}

void take_node(const std::string& message, std::uint64_t offset, std::set<std::string>& steps,
               ChakraTrace& trace) {
  ChakraNode node;
  std::string values;
  node.offset = offset;
  if (const auto wrong = import_detail::read_chakra_node(message, node, values)) {
    reject(trace, offset + wrong->offset, fmt::format("node {}", node.id), wrong->what);
    return;
  }
  if (node.name.starts_with("ProfilerStep#")) {
    steps.insert(node.name);
  }
  if (node.name.find("process_group:init") != std::string::npos) {
    for (ChakraGroup& group : import_detail::groups_told(values)) {
      trace.groups.push_back(std::move(group));
    }
  }
  node.ids.shrink_to_fit();
  trace.nodes.push_back(std::move(node));
}

void read_all(Messages& messages, ChakraTrace& trace) {
  const std::optional<std::string> metadata = messages.next();
  if (!metadata) {
    if (trace.findings.empty()) {
      reject(trace, 0, "file", "is empty");
    }
    return;
  }
  if (const auto wrong = import_detail::read_chakra_metadata(*metadata, trace.version)) {
    reject(trace, messages.body() + wrong->offset, "GlobalMetadata", wrong->what);
    return;
  }
  std::set<std::string> steps;
  while (trace.findings.size() < import_detail::most_chakra_findings &&
         trace.nodes.size() < most_trace_nodes) {
    const std::optional<std::string> message = messages.next();
    if (!message) {
      break;
    }
    take_node(*message, messages.body(), steps, trace);
  }
  trace.steps = static_cast<int>(steps.size());
}

}  // namespace

std::string_view name(ChakraNodeType type) {
  constexpr std::array<std::string_view, chakra_node_type_count> names{
      "INVALID_NODE", "METADATA_NODE",  "MEM_LOAD_NODE",  "MEM_STORE_NODE",
      "COMP_NODE",    "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE"};
  return names.at(static_cast<std::size_t>(type));
}

std::string_view name(ChakraCollective collective) {
  constexpr std::array<std::string_view, chakra_collective_count> names{
      "ALL_REDUCE", "REDUCE",         "ALL_GATHER",           "GATHER", "SCATTER", "BROADCAST",
      "ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"};
  return names.at(static_cast<std::size_t>(collective));
}

std::optional<Collective> collective_of(ChakraCollective collective) {
  switch (collective) {
    case ChakraCollective::all_reduce:
    case ChakraCollective::barrier:
      return Collective::all_reduce;
    case ChakraCollective::reduce:
      return Collective::reduce;
    case ChakraCollective::all_gather:
      return Collective::all_gather;
    case ChakraCollective::broadcast:
      return Collective::broadcast;
    case ChakraCollective::all_to_all:
      return Collective::all_to_all;
    case ChakraCollective::reduce_scatter:
    case ChakraCollective::reduce_scatter_block:
      return Collective::reduce_scatter;
    case ChakraCollective::gather:
    case ChakraCollective::scatter:
      break;
  }
  return std::nullopt;
}

bool ChakraTrace::is_whole() const {
  return std::none_of(findings.begin(), findings.end(),
                      [](const Finding& finding) { return finding.effect == Effect::rejected; });
}

ChakraTrace read_chakra(std::istream& stream, const std::string& file) {
  ChakraTrace trace;
  trace.file = file;
  const int first = stream.peek();
  Messages messages(stream, trace);
  read_all(messages, trace);
  trace.bytes = messages.position();
  if (!trace.is_whole()) {
    trace.findings.front().message += other_form(first);
    return trace;
  }
  if (trace.nodes.empty()) {
    reject(trace, trace.bytes, "file", "has no node");
  }
  import_detail::join_nodes(trace);
  return trace;
}

}  // namespace payoff
