// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

// One line of JSON, an object of numbers and texts, told while it is parsed: a value of JSON for
// each of many lines takes several times as long. What is nested in it is passed over, null too.

namespace payoff {

class FlatLine : public nlohmann::json_sax<nlohmann::json> {
 public:
  // False where it is no JSON, or no object. What comes before the fault may have been told then,
  // and what is no plain line is told from its beginning again.
  [[nodiscard]] bool read(std::string_view line);
  [[nodiscard]] std::size_t keys() const { return keys_; }

  bool null() override { return true; }
  bool boolean(bool value) override {
    if (is_flat()) {
      on_boolean(value);
    }
    return true;
  }
  bool number_integer(number_integer_t value) override {
    if (is_flat()) {
      on_integer(value);
    }
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    return value <= static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())
               ? number_integer(static_cast<number_integer_t>(value))
               : add(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override {
    if (is_flat()) {
      on_text(value);
    }
    return true;
  }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    is_object_ = is_object_ || depth_ == 0;
    ++depth_;
    return true;
  }
  bool key(string_t& name) override {
    if (is_flat()) {
      ++keys_;
      on_key(name);
    }
    return true;
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    ++depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;
  }

 protected:
  virtual void on_key(const std::string& name) = 0;
  virtual void on_number(double value) = 0;  // of the last key
  virtual void on_integer(std::int64_t value) { on_number(static_cast<double>(value)); }
  virtual void on_boolean(bool /*value*/) {}
  virtual void on_text(std::string& value) = 0;

 private:
  // The form in which sweeps are written, several times as fast; false where it is another one.
  bool read_plain(std::string_view line);
  [[nodiscard]] bool is_flat() const { return depth_ == 1 && is_object_; }
  bool add(double value) {
    if (is_flat()) {
      on_number(value);
    }
    return true;
  }

  std::size_t depth_{};
  std::size_t keys_{};
  bool is_object_{};
};

}  // namespace payoff
