// SPDX-License-Identifier: Apache-2.0
#include "profiles/plan_ranges.hpp"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

namespace payoff {

std::optional<BlockRange> parse_blocks(std::string_view text) {
  const auto number = [](std::string_view digits) -> std::optional<std::int64_t> {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool whole = error == std::errc() && end == digits.data() + digits.size();
    return whole && value >= 0 && digits.front() != '-' ? std::optional(value) : std::nullopt;
  };
  const std::size_t dash = text.find('-');
  const auto first = number(text.substr(0, dash));
  if (!first || dash == std::string_view::npos) {
    return first ? std::optional(BlockRange{*first, *first}) : std::nullopt;
  }
  if (dash + 1 == text.size()) {
    return BlockRange{*first};
  }
  const auto last = number(text.substr(dash + 1));
  return last && *last >= *first ? std::optional(BlockRange{*first, *last}) : std::nullopt;
}

std::optional<BucketSet> parse_buckets(std::string_view text) {
  BucketSet set;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    const auto range = parse_blocks(text.substr(begin, end - begin));
    if (!range) {
      return std::nullopt;
    }
    set.ranges.push_back(*range);
    begin = end + 1;
  }
  std::sort(set.ranges.begin(), set.ranges.end(),
            [](const BlockRange& a, const BlockRange& b) { return a.first < b.first; });
  std::vector<BlockRange> joined;
  for (const BlockRange& range : set.ranges) {
    if (!joined.empty() && range.first <= joined.back().last) {
      return std::nullopt;  // twice
    }
    if (!joined.empty() && range.first == joined.back().last + 1) {
      joined.back().last = range.last;
    } else {
      joined.push_back(range);
    }
  }
  set.ranges = std::move(joined);
  return set;
}

}  // namespace payoff
