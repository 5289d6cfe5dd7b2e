// SPDX-License-Identifier: Apache-2.0
#include "tests/profiles/damage.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace payoff::test {

std::string damaged(std::string text, std::mt19937_64& random) {
  static const std::vector<std::string> pieces = {":",
                                                  "- ",
                                                  "{",
                                                  "}",
                                                  "[",
                                                  "]",
                                                  "\"",
                                                  "'",
                                                  "#",
                                                  "\n",
                                                  "\t",
                                                  " ",
                                                  "&a ",
                                                  "*a",
                                                  "!t ",
                                                  "<<: ",
                                                  "|",
                                                  ">",
                                                  "? ",
                                                  "---\n",
                                                  "...\n",
                                                  "%",
                                                  "@",
                                                  "~",
                                                  ",",
                                                  "\r\n",
                                                  "\xc3",
                                                  "\xf0\x9f\x98\x80",
                                                  std::string(1, '\0'),
                                                  "\x04",
                                                  "value: ",
                                                  "from: ",
                                                  "inf",
                                                  "1e999",
                                                  "-",
                                                  "\\",
                                                  "\\x"};
  for (std::uint64_t n = 1 + random() % 4; n > 0; --n) {
    const std::size_t position = random() % (text.size() + 1);
    const std::size_t length = std::min<std::size_t>(random() % 12, text.size() - position);
    switch (random() % 4) {
      case 0:
        text.erase(position, length);
        break;
      case 1:
        text.insert(position, pieces[random() % pieces.size()]);
        break;
      case 2:
        text.insert(random() % (text.size() + 1), text.substr(position, length));
        break;
      default:
        if (position < text.size()) {
          text[position] = static_cast<char>(random() % 256);
        }
    }
    if (text.empty()) {
      break;
    }
  }
  return text;
}

}  // namespace payoff::test
