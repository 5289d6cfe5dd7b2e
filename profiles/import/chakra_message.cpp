// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/chakra_message.hpp"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "profiles/import/message_fields.hpp"

namespace payoff::import_detail {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 50U;         // of a message
constexpr std::uint64_t most_microseconds = std::uint64_t{1} << 53U;  // whole numbers of a double

struct Attribute {
  std::string name;
  std::optional<std::int64_t> number;
  std::optional<std::string> text;
};

Attribute read_attribute(MessageFields& fields) {
  Attribute attribute;
  fields.within([&] {
    fields.each([&](int field) {
      if (field == 1) {
        attribute.name = fields.text();
      } else if (field == 29) {
        attribute.text = fields.text();
      } else if (const auto number = fields.integer_attribute(field)) {
        attribute.number = number;
      }
    });
  });
  return attribute;
}

void take_bytes(std::int64_t bytes, const std::string& name, ChakraNode& node,
                MessageFields& fields) {
  if (bytes < 0 || static_cast<std::uint64_t>(bytes) > most_bytes) {
    fields.fail(fmt::format("{} of {} bytes", name, bytes));
  } else if (name == "comm_size" || !node.bytes) {  // whichever comes first
    node.bytes = static_cast<std::uint64_t>(bytes);
  }
}

void take(const Attribute& attribute, ChakraNode& node, MessageFields& fields) {
  node.group = attribute.name == "pg_name" ? attribute.text.value_or("") : node.group;
  if (!attribute.number) {
    return;
  }
  const std::int64_t number = *attribute.number;
  if (attribute.name == "is_cpu_op") {
    node.on_host = number != 0;
  } else if (attribute.name == "stream") {
    node.stream = number;
  } else if (attribute.name == "tid") {
    node.thread = number;
  } else if (attribute.name == "comm_size" || attribute.name == "tensor_size") {
    take_bytes(number, attribute.name, node, fields);
  } else if (attribute.name == "comm_type") {
    if (number < 0 || number >= chakra_collective_count) {
      fields.fail(fmt::format("comm_type {} is none of CollectiveCommType", number));
    } else {
      node.collective = static_cast<ChakraCollective>(number);
    }
  }
}

std::uint64_t microseconds(MessageFields& fields, std::string_view what) {
  const std::uint64_t value = fields.whole_number();
  if (value > most_microseconds) {
    fields.fail(fmt::format("{} of {} us", what, value));
  }
  return value;
}

void take_type(std::uint64_t type, ChakraNode& node, MessageFields& fields) {
  if (type == 0 || type >= chakra_node_type_count) {
    fields.fail(fmt::format("type {} is none of NodeType", type));
    return;
  }
  node.type = static_cast<ChakraNodeType>(type);
}

// The first field is a text, and nothing else is wanted.
void take_first_text(MessageFields& fields, std::string& text) {
  fields.each([&](int field) {
    if (field == 1) {
      text = fields.text();
    } else {
      fields.skip();
    }
  });
}

void take_field(int field, MessageFields& fields, ChakraNode& node, std::string& values) {
  switch (field) {
    case 1:
      node.id = fields.whole_number();
      break;
    case 2:
      node.name = fields.text();
      break;
    case 3:
      take_type(fields.whole_number(), node, fields);
      break;
    case 4:
    case 5:
      fields.whole_numbers([&](std::uint64_t id) { node.ids.push_back(id); });
      break;
    case 6:
      node.start_us = microseconds(fields, "start_time_micros");
      break;
    case 7:
      node.duration_us = microseconds(fields, "duration_micros");
      break;
    case 8:
      fields.within([&] { take_first_text(fields, values); });
      break;
    case 10: {
      const Attribute attribute = read_attribute(fields);
      if (!fields.failed()) {
        take(attribute, node, fields);
      }
      break;
    }
    default:
      fields.skip();
  }
}

// What the schema leaves open and no reader can do without.
std::string what_lacks(const ChakraNode& node) {
  if (node.type == ChakraNodeType{}) {
    return "has no type (INVALID_NODE)";
  }
  if (node.type == ChakraNodeType::collective && !node.collective) {
    return "is a collective without comm_type";
  }
  const bool needs_size = node.communicates() && node.collective != ChakraCollective::barrier;
  return needs_size && !node.bytes ? "communicates without comm_size" : "";
}

}  // namespace

std::optional<MalformedMessage> read_chakra_node(std::string_view message, ChakraNode& node,
                                                 std::string& values) {
  MessageFields fields(message);
  fields.each([&](int field) { take_field(field, fields, node, values); });
  if (fields.failed()) {
    return fields.failed();
  }
  const std::string lacks = what_lacks(node);
  return lacks.empty() ? std::nullopt : std::optional(MalformedMessage{0, lacks});
}

std::optional<MalformedMessage> read_chakra_metadata(std::string_view message,
                                                     std::string& version) {
  MessageFields fields(message);
  take_first_text(fields, version);
  return fields.failed();
}

}  // namespace payoff::import_detail
