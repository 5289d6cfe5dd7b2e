// SPDX-License-Identifier: Apache-2.0
#include "kernels/harness/json_writer.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace payoff::kernels {
namespace {

std::string digits(double value) {
  if (!std::isfinite(value)) {
    return "null";
  }
  std::array<char, 40> buffer{};
  constexpr int significant = 9;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                          std::chars_format::general, significant);
  return error == std::errc{} ? std::string(buffer.data(), end) : "null";
}

std::string json_quoted(std::string_view text) {
  constexpr std::string_view hex_digits = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20U) {
      quoted += "\\u00";
      quoted += hex_digits[byte / 16U];
      quoted += hex_digits[byte % 16U];
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace

void JsonWriter::begin_value(std::string_view key) {
  if (!first_) {
    text_ += ',';
  }
  if (!open_.empty()) {
    text_ += '\n';
    text_.append(2 * open_.size(), ' ');
  }
  if (!key.empty()) {
    text_ += json_quoted(key) + ": ";
  }
  first_ = false;
}

void JsonWriter::close(char bracket) {
  open_.pop_back();
  if (!first_) {
    text_ += '\n';
    text_.append(2 * open_.size(), ' ');
  }
  text_ += bracket;
  first_ = false;
}

void JsonWriter::begin_object(std::string_view key) {
  begin_value(key);
  text_ += '{';
  open_.push_back('}');
  first_ = true;
}
void JsonWriter::end_object() { close('}'); }

void JsonWriter::begin_list(std::string_view key) {
  begin_value(key);
  text_ += '[';
  open_.push_back(']');
  first_ = true;
}
void JsonWriter::end_list() { close(']'); }

void JsonWriter::text(std::string_view key, std::string_view value) {
  begin_value(key);
  text_ += json_quoted(value);
}
void JsonWriter::number(std::string_view key, double value) {
  begin_value(key);
  text_ += digits(value);
}
void JsonWriter::whole(std::string_view key, std::uint64_t value) {
  begin_value(key);
  text_ += std::to_string(value);
}
void JsonWriter::truth(std::string_view key, bool value) {
  begin_value(key);
  text_ += value ? "true" : "false";
}
void JsonWriter::numbers(std::string_view key, std::span<const double> values) {
  begin_value(key);
  text_ += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    text_ += (i > 0 ? ", " : "") + digits(values[i]);
  }
  text_ += ']';
}

std::string JsonWriter::finished() const {
  JsonWriter copy = *this;
  while (!copy.open_.empty()) {
    copy.close(copy.open_.back());
  }
  return copy.text_ + '\n';
}

}  // namespace payoff::kernels
