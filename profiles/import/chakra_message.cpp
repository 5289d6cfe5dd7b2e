// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/chakra_message.hpp"

#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

namespace payoff::import_detail {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 50U;         // of a message
constexpr std::uint64_t most_microseconds = std::uint64_t{1} << 53U;  // whole numbers of a double

// MessageFields of messages within messages, with the place at which reading stopped. Code that
// protoc makes would read the same, but say only that a message is wrong, not where.
class MessageFields {
 public:
  explicit MessageFields(std::string_view message)
      : in_(reinterpret_cast<const std::uint8_t*>(message.data()),
            static_cast<int>(message.size())) {
    (void)in_.PushLimit(static_cast<int>(message.size()));
  }

  // Calls `field(number, type)` for each, until one of them fails.
  template <class Field>
  void each(const Field& field) {
    while (!failed_) {
      begin_ = in_.CurrentPosition();
      tag_ = in_.ReadTag();
      if (tag_ == 0) {
        if (!in_.ConsumedEntireMessage()) {
          fail("is no field of a message");
        }
        return;
      }
      field(WireFormatLite::GetTagFieldNumber(tag_));
    }
  }

  void skip() {
    if (!WireFormatLite::SkipField(&in_, tag_)) {
      fail(fmt::format("field {} is cut off or of an unknown form", number()));
    }
  }

  std::uint64_t whole_number() {
    std::uint64_t value = 0;
    if (type() != WireFormatLite::WIRETYPE_VARINT) {
      fail(fmt::format("field {} is no whole number", number()));
    } else if (!in_.ReadVarint64(&value)) {
      fail(fmt::format("the number of field {} is cut off or longer than 10 bytes", number()));
    }
    return value;
  }

  // One after another, or all of them in one field.
  template <class Take>
  void whole_numbers(const Take& take) {
    if (type() != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      take(whole_number());
      return;
    }
    const int field = number();
    within([&] {
      while (!failed_ && in_.BytesUntilLimit() > 0) {
        std::uint64_t value = 0;
        if (in_.ReadVarint64(&value)) {
          take(value);
        } else {
          fail(fmt::format("a number of field {} is cut off or longer than 10 bytes", field));
        }
      }
    });
  }

  std::string text() {
    std::string value;
    const int length = length_of_field();
    if (!failed_ && !in_.ReadString(&value, length)) {
      fail(fmt::format("field {} is cut off", number()));
    }
    return value;
  }

  // Runs `read` with the field's own bytes as all there is.
  template <class Read>
  void within(const Read& read) {
    const int length = length_of_field();
    if (failed_) {
      return;
    }
    const CodedInputStream::Limit outer = in_.PushLimit(length);
    read();
    in_.PopLimit(outer);
  }

  // Of the types of AttributeProto that are whole numbers of varying length; others are read over.
  std::optional<std::int64_t> integer_attribute(int field) {
    switch (field) {
      case 7:   // int32
      case 9:   // int64
      case 11:  // uint32
      case 13:  // uint64
      case 27:  // bool
        return static_cast<std::int64_t>(whole_number());
      case 15:  // sint32
      case 17:  // sint64
        return WireFormatLite::ZigZagDecode64(whole_number());
      default:
        skip();
        return std::nullopt;
    }
  }

  void fail(std::string what) {
    if (!failed_) {
      failed_ = MalformedMessage{static_cast<std::size_t>(begin_), std::move(what)};
    }
  }
  [[nodiscard]] const std::optional<MalformedMessage>& failed() const { return failed_; }

 private:
  [[nodiscard]] int number() const { return WireFormatLite::GetTagFieldNumber(tag_); }
  [[nodiscard]] WireFormatLite::WireType type() const {
    return WireFormatLite::GetTagWireType(tag_);
  }

  int length_of_field() {
    int length = 0;
    if (type() != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      fail(fmt::format("field {} has no length where a text or a message is expected", number()));
    } else if (!in_.ReadVarintSizeAsInt(&length)) {
      fail(fmt::format("the length of field {} cannot be read", number()));
    } else if (length > in_.BytesUntilLimit()) {
      fail(fmt::format("field {} says that it has {} bytes, and {} are left", number(), length,
                       in_.BytesUntilLimit()));
    }
    return length;
  }

  CodedInputStream in_;
  std::uint32_t tag_{};
  int begin_{};  // of the field
  std::optional<MalformedMessage> failed_;
};

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
