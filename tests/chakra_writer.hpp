// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "profiles/import/chakra_trace.hpp"

// Chakra traces with known answers, encoded by hand from the published description of protobuf's
// wire format and the field numbers of et_def.proto: a second implementation of both.

namespace payoff::test {

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 128; value /= 128) {
    bytes += static_cast<char>(value % 128 + 128);
  }
  return bytes + static_cast<char>(value);
}

inline std::string whole(int field, std::uint64_t value) {
  return varint(static_cast<std::uint64_t>(field) * 8) + varint(value);
}

inline std::string bytes(int field, std::string_view value) {
  return varint(static_cast<std::uint64_t>(field) * 8 + 2) + varint(value.size()) +
         std::string(value);
}

inline std::string framed(const std::string& message) { return varint(message.size()) + message; }

inline std::string metadata(std::string_view version = "1.0.0") {
  return framed(bytes(1, version));
}

// AttributeProto: bool_val is field 27, int64_val 9, uint64_val 13, string_val 29.
inline std::string number(std::string_view name, int field, std::uint64_t value) {
  return bytes(10, bytes(1, name) + whole(field, value));
}
inline std::string word(std::string_view name, std::string_view value) {
  return bytes(10, bytes(1, name) + bytes(29, value));
}

enum ChakraType : std::uint8_t { METADATA = 1, LOAD, STORE, COMP, SEND, RECV, COLL };

struct Written {
  std::uint64_t id{};
  ChakraType type{COMP};
  std::uint64_t duration{};
  std::initializer_list<std::uint64_t> after{};
  std::string more{};  // further fields
};

// Fields of zero are not written, as proto3 has it.
inline std::string message(const Written& node) {
  std::string text = node.id > 0 ? whole(1, node.id) : "";
  text += bytes(2, "node") + whole(3, node.type);
  std::string packed;
  for (const std::uint64_t id : node.after) {
    packed += varint(id);
  }
  text += packed.empty() ? "" : bytes(5, packed);
  text += node.duration > 0 ? whole(7, node.duration) : "";
  return text + node.more;
}
inline std::string written(const Written& node) { return framed(message(node)); }

inline std::string collective(std::uint64_t kind, std::uint64_t size, std::string_view group = "") {
  return number("is_cpu_op", 27, 0) + number("comm_type", 9, kind) + number("comm_size", 9, size) +
         (group.empty() ? "" : word("pg_name", group));
}

inline std::string begins(std::uint64_t microseconds) { return whole(6, microseconds); }

inline ChakraTrace read_chakra_text(const std::string& text) {
  std::istringstream stream(text);
  return read_chakra(stream, "rank.et");
}

}  // namespace payoff::test
