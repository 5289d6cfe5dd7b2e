// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "profiles/import/chakra_message.hpp"

// The fields of a message in the wire format of Protocol Buffers, one after the other.

namespace payoff::import_detail {

// Of messages within messages, with the place at which reading stopped. Code that protoc makes
// would read the same, but say only that a message is wrong, not where.
class MessageFields {
  using WireFormatLite = google::protobuf::internal::WireFormatLite;
  using CodedInputStream = google::protobuf::io::CodedInputStream;

 public:
  explicit MessageFields(std::string_view message)
      : in_(reinterpret_cast<const std::uint8_t*>(message.data()),
            static_cast<int>(message.size())) {
    (void)in_.PushLimit(static_cast<int>(message.size()));
  }

  // Calls `field(number)` for each, until one of them fails.
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

}  // namespace payoff::import_detail
