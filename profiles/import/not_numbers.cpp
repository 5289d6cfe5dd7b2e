// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/not_numbers.hpp"

#include <algorithm>
#include <array>

namespace payoff::import_detail {
namespace {

bool is_of_a_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '+' || c == '.';
}

// The length of what programs write in place of a number at this place; 0: nothing of the kind.
std::size_t not_number_at(std::string_view text, std::size_t at) {
  constexpr std::array<std::string_view, 6> spellings{"nan", "NaN",      "NAN",
                                                      "inf", "Infinity", "INFINITY"};
  const std::size_t sign = text[at] == '-' ? 1 : 0;
  for (const std::string_view each : spellings) {
    const std::size_t end = at + sign + each.size();
    if (text.substr(at + sign, each.size()) == each &&
        (end >= text.size() || !is_of_a_word(text[end]))) {
      return sign + each.size();
    }
  }
  return 0;
}

}  // namespace

std::vector<NotNumber> find_not_numbers(std::string_view text) {
  std::vector<NotNumber> found;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      in_text = !in_text;
    } else if (in_text) {
      i += c == '\\' ? 1U : 0U;
    } else if (c == '-' || c == 'n' || c == 'N' || c == 'i' || c == 'I') {
      const bool begins = i == 0 || !is_of_a_word(text[i - 1]);
      const std::size_t length = begins ? not_number_at(text, i) : 0;
      if (length > 0) {
        found.push_back({i, length});
        i += length - 1;
      }
    }
  }
  return found;
}

std::string with_numbers(std::string_view text, const std::vector<NotNumber>& places) {
  std::string result(text);
  for (const NotNumber& each : places) {
    const std::size_t sign = result[each.begin] == '-' ? 1 : 0;
    std::fill_n(result.begin() + static_cast<std::ptrdiff_t>(each.begin + sign), each.length - sign,
                '0');
    result[each.begin + sign + 1] = '.';
  }
  return result;
}

}  // namespace payoff::import_detail
