// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "model/decimal_text.hpp"

// The words of a formula: where the reader stands, what comes next. Positions are offsets into the
// text. Spaces after a word belong to it.

namespace payoff::detail {

[[nodiscard]] inline std::string quoted(std::string_view word) {
  std::string text = "'";
  text += word;
  text += "'";
  return text;
}

class ExpressionScanner {
 public:
  explicit ExpressionScanner(std::string_view text) : text_(text) { skip_space(); }

  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] std::size_t position() const { return at_; }
  [[nodiscard]] char next() const { return text_[at_]; }
  // The same as a reader sees it: in UTF-8 it may take several bytes.
  [[nodiscard]] std::string_view next_character() const {
    const auto continues = [&](std::size_t place) {
      return place < text_.size() && (static_cast<unsigned char>(text_[place]) & 0xC0U) == 0x80U;
    };
    std::size_t end = at_ + 1;
    while (continues(end)) {
      ++end;
    }
    return text_.substr(at_, end - at_);
  }
  [[nodiscard]] bool at_number() const { return !at_end() && (is_digit(next()) || next() == '.'); }
  [[nodiscard]] bool at_word() const { return !at_end() && is_word(next()); }

  bool accept(std::string_view symbol) {
    if (text_.substr(at_, symbol.size()) != symbol) {
      return false;
    }
    at_ += symbol.size();
    skip_space();
    return true;
  }

  std::string_view word() {
    const std::size_t begin = at_;
    while (at_word()) {
      ++at_;
    }
    const std::string_view found = text_.substr(begin, at_ - begin);
    skip_space();
    return found;
  }

  // The characters that a decimal number could have: "0x10" and "4GB" end before their letters.
  [[nodiscard]] std::string_view number_text() const {
    const std::string_view rest = text_.substr(at_);
    const auto end_of = [&](std::size_t from, std::string_view allowed) {
      return std::min(rest.find_first_not_of(allowed, from), rest.size());
    };
    std::size_t end = end_of(0, "0123456789.");
    if (end < rest.size() && (rest[end] == 'e' || rest[end] == 'E')) {
      const bool sign = end + 1 < rest.size() && (rest[end + 1] == '+' || rest[end + 1] == '-');
      const std::size_t begin = end + (sign ? 2 : 1);
      if (const std::size_t exponent = end_of(begin, "0123456789"); exponent > begin) {
        end = exponent;
      }
    }
    return rest.substr(0, end);
  }

  // nullopt, and nothing read, where number_text() is not a number or letters follow it.
  std::optional<double> number() {
    const std::string_view token = number_text();
    const std::size_t end = at_ + token.size();
    const bool complete = decimal_length(token) == token.size();
    if (!complete || (end < text_.size() && is_word(text_[end]))) {
      return std::nullopt;
    }
    const ReadDecimal read = read_decimal(token);
    if (!read.in_range) {
      return std::nullopt;
    }
    at_ = end;
    skip_space();
    return read.number;
  }

 private:
  [[nodiscard]] static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
  }

  void skip_space() {
    while (!at_end() && (next() == ' ' || next() == '\t' || next() == '\n')) {
      ++at_;
    }
  }

  std::string_view text_;
  std::size_t at_{};
};

}  // namespace payoff::detail
