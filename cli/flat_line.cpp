// SPDX-License-Identifier: Apache-2.0
#include "cli/flat_line.hpp"

#include <charconv>
#include <system_error>

namespace payoff {
namespace {

bool is_decimal(char c) { return c >= '0' && c <= '9'; }

// One object in the form in which sweeps are written: without blanks, escapes, nesting and anything
// but ASCII. Every function is false where the text goes on in another way, right or wrong.
class PlainObject {
 public:
  explicit PlainObject(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool done() const { return rest_.empty(); }
  [[nodiscard]] char next() const { return rest_.empty() ? '\0' : rest_.front(); }
  bool take(std::string_view expected) {
    const bool found = rest_.starts_with(expected);
    rest_.remove_prefix(found ? expected.size() : 0);
    return found;
  }

  bool take_text(std::string& text) {
    if (!take("\"")) {
      return false;
    }
    constexpr unsigned char first_printed = 0x20;
    constexpr unsigned char beyond_ascii = 0x80;
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      const auto code = static_cast<unsigned char>(rest_[i]);
      if (rest_[i] == '"') {
        text.assign(rest_.substr(0, i));
        rest_.remove_prefix(i + 1);
        return true;
      }
      if (code < first_printed || code >= beyond_ascii || rest_[i] == '\\') {
        return false;
      }
    }
    return false;
  }

  // As JSON has them: no leading zeros, digits on both sides of a point.
  bool take_number(std::string_view& number, bool& is_whole) {
    std::size_t at = next() == '-' ? 1 : 0;
    const std::size_t first = at;
    if (!skip_digits(at) || (rest_[first] == '0' && at > first + 1)) {
      return false;
    }
    is_whole = true;
    if (at < rest_.size() && rest_[at] == '.') {
      is_whole = false;
      if (!skip_digits(++at)) {
        return false;
      }
    }
    if (at < rest_.size() && (rest_[at] == 'e' || rest_[at] == 'E')) {
      is_whole = false;
      ++at;
      if (at < rest_.size() && (rest_[at] == '+' || rest_[at] == '-')) {
        ++at;
      }
      if (!skip_digits(at)) {
        return false;
      }
    }
    number = rest_.substr(0, at);
    rest_.remove_prefix(at);
    return true;
  }

 private:
  [[nodiscard]] bool skip_digits(std::size_t& at) const {
    const std::size_t begin = at;
    while (at < rest_.size() && is_decimal(rest_[at])) {
      ++at;
    }
    return at > begin;
  }

  std::string_view rest_;
};

template <class Number>
bool converted(std::string_view text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

}  // namespace

bool FlatLine::read(std::string_view line) {
  keys_ = 0;
  if (read_plain(line)) {
    return true;
  }
  keys_ = 0;
  depth_ = 0;
  is_object_ = false;
  return nlohmann::json::sax_parse(line, this) && is_object_;
}

bool FlatLine::read_plain(std::string_view line) {
  PlainObject object(line);
  if (!object.take("{") || object.next() != '"') {
    return false;
  }
  std::string text;
  do {
    if (!object.take_text(text) || !object.take(":")) {
      return false;
    }
    ++keys_;
    on_key(text);
    std::string_view number;
    bool is_whole = false;
    if (object.next() == '"') {
      if (!object.take_text(text)) {
        return false;
      }
      on_text(text);
    } else if (object.take_number(number, is_whole)) {
      std::int64_t whole = 0;
      double value = 0.0;
      if (is_whole && converted(number, whole)) {
        on_integer(whole);
      } else if (converted(number, value)) {
        on_number(value);
      } else {
        return false;
      }
    } else if (object.take("true")) {
      on_boolean(true);
    } else if (object.take("false")) {
      on_boolean(false);
    } else if (!object.take("null")) {
      return false;
    }
  } while (object.take(","));
  return object.take("}") && object.done();
}

}  // namespace payoff
