// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Writes JSON text, two spaces a level; lists of numbers on one line. Numbers have nine significant
// digits, no-numbers (NaN, infinities) become null. Calls have to nest; what is left open is closed
// by finished(). Items of a list have no key.

namespace payoff::kernels {

class JsonWriter {
 public:
  void begin_object(std::string_view key = {});
  void end_object();
  void begin_list(std::string_view key = {});
  void end_list();

  void text(std::string_view key, std::string_view value);
  void number(std::string_view key, double value);
  void whole(std::string_view key, std::uint64_t value);
  void truth(std::string_view key, bool value);
  void numbers(std::string_view key, std::span<const double> values);

  [[nodiscard]] std::string finished() const;

 private:
  void begin_value(std::string_view key);
  void close(char bracket);

  std::string text_;
  std::vector<char> open_;
  bool first_ = true;
};

}  // namespace payoff::kernels
