// SPDX-License-Identifier: Apache-2.0
#include "calibrate/profile_difference.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

namespace payoff {
namespace {

struct Entry {
  std::string path;
  std::string value;
};

// Keys of the mappings that a line stands in, by their indentation.
class Paths {
 public:
  std::string enter(std::size_t indent, std::string key) {
    while (!keys_.empty() && keys_.back().indent >= indent) {
      keys_.pop_back();
    }
    keys_.push_back({indent, std::move(key), 0});
    return text();
  }

  // Items stand at the indentation of their list or below.
  std::string next_item() {
    return keys_.empty() ? "" : text() + "[" + std::to_string(keys_.back().items++) + "]";
  }

 private:
  struct Key {
    std::size_t indent{};
    std::string name;
    std::size_t items{};
  };

  [[nodiscard]] std::string text() const {
    std::string path;
    for (const Key& key : keys_) {
      if (!path.empty()) {
        path += '.';
      }
      path += key.name;
    }
    return path;
  }

  std::vector<Key> keys_;
};

std::vector<Entry> entries_of(std::string_view text) {
  std::vector<Entry> entries;
  Paths paths;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view content = line.substr(indent);
    if (content.empty() || content.front() == '#') {
      continue;
    }
    if (content.starts_with("- ")) {
      entries.push_back({paths.next_item(), std::string(content.substr(2))});
      continue;
    }
    const std::size_t colon = std::min(content.find(':'), content.size());
    const std::string path = paths.enter(indent, std::string(content.substr(0, colon)));
    const std::string_view value = content.substr(std::min(colon + 1, content.size()));
    const std::size_t start = value.find_first_not_of(' ');
    if (start != std::string_view::npos) {
      entries.push_back({path, std::string(value.substr(start))});
    }
  }
  return entries;
}

bool is_part_of_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '.';
}

// The number that begins at `at`, and its length; none inside a word.
std::pair<double, std::size_t> number_at(std::string_view text, std::size_t at) {
  if (at > 0 && is_part_of_word(text[at - 1])) {
    return {};
  }
  double number = 0;
  const char* begin = text.data() + at;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
  // "-infiniband" begins with what would be an infinite number.
  return error == std::errc() && std::isfinite(number)
             ? std::pair(number, static_cast<std::size_t>(end - begin))
             : std::pair(0.0, std::size_t{0});
}

double unit_of_third_digit(double number) {
  return number == 0.0 ? 0.0 : std::pow(10.0, std::floor(std::log10(std::abs(number))) - 2.0);
}

// Equal, or the first number that is not; other text that differs leaves the change open.
struct Comparison {
  bool equal{true};
  std::optional<double> change_ratio;
};

Comparison compare(std::string_view shipped, std::string_view fitted) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < shipped.size() && j < fitted.size()) {
    const auto [old_number, old_length] = number_at(shipped, i);
    const auto [new_number, new_length] = number_at(fitted, j);
    if (old_length > 0 && new_length > 0) {
      if (!are_close(old_number, new_number)) {
        return {false,
                old_number == 0.0 ? std::nullopt : std::optional(new_number / old_number - 1.0)};
      }
      i += old_length;
      j += new_length;
    } else if (shipped[i++] != fitted[j++]) {
      return {false, std::nullopt};
    }
  }
  return {i == shipped.size() && j == fitted.size(), std::nullopt};
}

}  // namespace

bool are_close(double a, double b) {
  constexpr double rounding = 1.001;  // of the decimal texts
  return std::abs(a - b) <= rounding * std::max(unit_of_third_digit(a), unit_of_third_digit(b));
}

std::vector<ProfileDifference> profile_differences(std::string_view shipped,
                                                   std::string_view fitted) {
  std::vector<Entry> added = entries_of(fitted);
  std::map<std::string, std::string> now;
  for (const Entry& entry : added) {
    now.emplace(entry.path, entry.value);
  }
  std::vector<ProfileDifference> differences;
  for (Entry& entry : entries_of(shipped)) {
    const auto found = now.find(entry.path);
    if (found == now.end()) {
      differences.push_back({std::move(entry.path), std::move(entry.value), "", std::nullopt});
      continue;
    }
    const Comparison result = compare(entry.value, found->second);
    if (!result.equal) {
      differences.push_back(
          {entry.path, std::move(entry.value), found->second, result.change_ratio});
    }
    now.erase(found);
  }
  for (Entry& entry : added) {
    if (now.contains(entry.path)) {
      differences.push_back({std::move(entry.path), "", std::move(entry.value), std::nullopt});
    }
  }
  return differences;
}

}  // namespace payoff
