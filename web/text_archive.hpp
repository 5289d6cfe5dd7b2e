// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "model/decimal_text.hpp"
#include "model/expression.hpp"
#include "model/model.hpp"
#include "web/experiment_fields.hpp"

// Values of the model as text, and back: words with a space after each, numbers in the fewest
// digits that read back as the same double, strings with their length before them. A struct begins
// with the number of its fields, so that a text of another version is refused, not misread. What is
// inside a struct comes from an overload of `each_field` (web/experiment_fields.hpp).

namespace payoff::web {

template <typename T>
concept HasSi = requires(T x) { x.si; };

class TextWriter {
 public:
  template <typename... T>
  void operator()(T&... values) {
    (put(values), ...);
  }
  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  void word(std::string_view text) { text_.append(text).push_back(' '); }
  void number(double value) {
    detail::DecimalBuffer buffer{};
    word(detail::write_shortest(buffer, value));
  }
  void put(std::string& value) {
    text_ += std::to_string(value.size()) + ':';
    word(value);
  }
  void put(Expression& value) {
    std::string text = value.text();
    std::vector<Expression::Instruction> program(value.program().begin(), value.program().end());
    (*this)(text, program);
  }
  template <typename T>
  void put(std::optional<T>& value) {
    word(value ? "1" : "0");
    if (value) {
      put(*value);
    }
  }
  template <typename T>
  void put(std::vector<T>& values) {
    word(std::to_string(values.size()));
    for (T& value : values) {
      put(value);
    }
  }
  template <typename T, std::size_t n>
  void put(std::array<T, n>& values) {
    for (T& value : values) {
      put(value);
    }
  }
  template <typename T>
  void put(std::map<std::string, T>& values) {
    word(std::to_string(values.size()));
    for (auto& [key, value] : values) {
      std::string name = key;
      (*this)(name, value);
    }
  }
  template <typename A, typename B>
  void put(std::variant<A, B>& value) {
    word(std::to_string(value.index()));
    std::visit([this](auto& held) { this->put(held); }, value);
  }
  void put(LayerTable& table) {
    Workload layers = *table;
    put(layers);
  }
  template <typename T>
  void put(T& value) {
    if constexpr (std::is_enum_v<T>) {
      word(std::to_string(static_cast<int>(value)));
    } else if constexpr (std::is_same_v<T, bool>) {
      word(value ? "1" : "0");
    } else if constexpr (std::is_integral_v<T>) {
      word(std::to_string(value));
    } else if constexpr (std::is_floating_point_v<T>) {
      number(value);
    } else if constexpr (HasSi<T>) {
      number(value.si);
    } else {
      each_field(value, [this](auto&... fields) {
        word(std::to_string(sizeof...(fields)));
        (*this)(fields...);
      });
    }
  }

  std::string text_;
};

class TextReader {
 public:
  explicit TextReader(std::string_view text) : rest_(text) {}

  template <typename... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  // Of all that was read so far.
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }

 private:
  std::string_view word() {
    const std::size_t end = rest_.find(' ');
    if (!good_ || end == std::string_view::npos || end == 0) {
      good_ = false;
      return "0";
    }
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return found;
  }
  std::int64_t whole() { return whole(word()); }
  std::int64_t whole(std::string_view digits) {
    const bool negative = digits.starts_with('-');
    std::uint64_t value = 0;
    for (const char c : digits.substr(negative ? 1 : 0)) {
      good_ = good_ && c >= '0' && c <= '9';
      value = 10 * value + static_cast<std::uint64_t>(c - '0');
    }
    return static_cast<std::int64_t>(negative ? 0 - value : value);
  }
  // No more elements than there are words left.
  std::size_t count() {
    const std::int64_t value = whole();
    good_ = good_ && value >= 0 && value <= static_cast<std::int64_t>(rest_.size());
    return good_ ? static_cast<std::size_t>(value) : 0;
  }
  void get(std::string& value) {
    const std::size_t colon = rest_.find(':');
    if (!good_ || colon == std::string_view::npos) {
      good_ = false;
      return;
    }
    const std::int64_t length = whole(rest_.substr(0, colon));
    rest_.remove_prefix(colon + 1);
    good_ = good_ && length >= 0 && length < static_cast<std::int64_t>(rest_.size());
    if (good_) {
      value = rest_.substr(0, static_cast<std::size_t>(length));
      rest_.remove_prefix(static_cast<std::size_t>(length) + 1);
    }
  }
  void get(Expression& value) {
    std::string text;
    std::vector<Expression::Instruction> program;
    (*this)(text, program);
    if (auto expression = Expression::assemble(std::move(text), std::move(program))) {
      value = *std::move(expression);
    } else {
      good_ = false;
    }
  }
  template <typename T>
  void get(std::optional<T>& value) {
    value.reset();
    if (word() == "1") {
      get(value.emplace());
    }
  }
  template <typename T>
  void get(std::vector<T>& values) {
    values.clear();
    const std::size_t size = count();
    for (std::size_t i = 0; i < size && good_; ++i) {
      get(values.emplace_back());
    }
  }
  template <typename T, std::size_t n>
  void get(std::array<T, n>& values) {
    for (T& value : values) {
      get(value);
    }
  }
  template <typename T>
  void get(std::map<std::string, T>& values) {
    values.clear();
    const std::size_t size = count();
    for (std::size_t i = 0; i < size && good_; ++i) {
      std::string name;
      get(name);
      get(values[name]);
    }
  }
  template <typename A, typename B>
  void get(std::variant<A, B>& value) {
    if (word() == "0") {
      value = A{};
    } else {
      value = B{};
    }
    std::visit([this](auto& held) { this->get(held); }, value);
  }
  void get(LayerTable& table) {
    Workload layers;
    get(layers);
    table = std::move(layers);
  }
  template <typename T>
  void get(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = word() == "1";
    } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
      value = static_cast<T>(whole());
    } else if constexpr (std::is_floating_point_v<T>) {
      value = detail::read_decimal(word()).number;
    } else if constexpr (HasSi<T>) {
      value.si = detail::read_decimal(word()).number;
    } else {
      each_field(value, [this](auto&... fields) {
        good_ = good_ && whole() == static_cast<std::int64_t>(sizeof...(fields));
        if (good_) {
          (*this)(fields...);
        }
      });
    }
  }

  std::string_view rest_;
  bool good_{true};
};

}  // namespace payoff::web
