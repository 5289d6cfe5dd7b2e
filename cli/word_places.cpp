// SPDX-License-Identifier: Apache-2.0
#include "cli/word_places.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace payoff {
namespace {

constexpr char mark = '\x1f';

std::string marked(const std::string& text, int index) {
  return text + mark + std::to_string(index);
}

bool is_file_of_results(std::string_view word) {
  return word == "-" || word.ends_with(".json") || word.ends_with(".jsonl");
}

}  // namespace

std::vector<std::string> with_places(const std::vector<OptionSpec>& options,
                                     std::span<const std::string> words, int first_index) {
  const auto takes_optional_file = [&](const std::string& word) {
    return std::any_of(options.begin(), options.end(), [&](const OptionSpec& option) {
      return option.takes == Takes::optional_file && option.name == word;
    });
  };
  std::vector<std::string> result;
  bool options_end = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const int index = first_index + static_cast<int>(i);
    const std::string& word = words[i];
    if (!options_end && takes_optional_file(word)) {
      const bool has_file = i + 1 < words.size() && is_file_of_results(words[i + 1]);
      result.push_back(has_file ? marked(word + "=" + words[i + 1], index + 1)
                                : marked(word + "=", index));
      i += has_file ? 1 : 0;
    } else if (options_end || !word.starts_with("-") || word == "-" ||
               (word.starts_with("--") && word.find('=') != std::string::npos)) {
      result.push_back(marked(word, index));
    } else {
      options_end = word == "--";
      result.push_back(word);
    }
  }
  return result;
}

Argument unmarked(const std::string& word) {
  const std::size_t at = word.rfind(mark);
  Argument result;
  result.text = word.substr(0, at);
  if (at != std::string::npos) {
    std::from_chars(word.data() + at + 1, word.data() + word.size(), result.index);
  }
  return result;
}

}  // namespace payoff
