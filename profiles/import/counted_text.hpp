// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <istream>
#include <iterator>

// A stream as input of a JSON parser that tells how far it has read (internal to the importers).

namespace payoff::import_detail {

class CountedText {
 public:
  explicit CountedText(std::istream& stream) : stream_(stream) { fill(); }

  [[nodiscard]] bool at_end() const { return next_ == size_; }
  [[nodiscard]] const char& front() const { return buffer_[next_]; }
  [[nodiscard]] int line() const { return line_; }      // from 1, of the next character
  [[nodiscard]] int column() const { return column_; }  // from 1, in bytes

  void advance() {
    if (front() == '\n') {
      ++line_;
      column_ = 0;
    }
    ++column_;
    if (++next_ == size_) {
      fill();
    }
  }

 private:
  void fill() {
    stream_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    size_ = static_cast<std::size_t>(stream_.gcount());
    next_ = 0;
  }

  std::istream& stream_;
  std::array<char, 65536> buffer_{};
  std::size_t next_ = 0;
  std::size_t size_ = 0;
  int line_ = 1;
  int column_ = 1;
};

// The end is the iterator without a text.
class TextIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  TextIterator() = default;
  explicit TextIterator(CountedText& text) : text_(&text) {}

  reference operator*() const { return text_->front(); }
  TextIterator& operator++() {
    text_->advance();
    return *this;
  }
  TextIterator operator++(int) {
    TextIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const TextIterator& other) const { return is_end() == other.is_end(); }
  bool operator!=(const TextIterator& other) const { return !(*this == other); }

 private:
  [[nodiscard]] bool is_end() const { return text_ == nullptr || text_->at_end(); }

  CountedText* text_ = nullptr;
};

}  // namespace payoff::import_detail
