// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// "did you mean": the known word that is nearest to a misspelt one. The distance counts inserted,
// removed, changed and swapped neighbouring letters; upper and lower case, `-` and `_` are the
// same letter at a small price. A word that differs in more than a third of its letters is no
// suggestion. The beginning of a candidate, up to a separator, may be meant with one wrong letter.
// Ties go to the candidate that comes first, so the answer is deterministic.

namespace payoff {

// Of so many wrong words of one file one is worth looking for; where more are wrong it is no slip.
inline constexpr std::size_t most_suggestions = 100;

// The nearest candidate, or an empty text when none is near enough.
[[nodiscard]] std::string_view closest(std::string_view word,
                                       std::span<const std::string_view> candidates);
[[nodiscard]] std::string closest(std::string_view word,
                                  const std::vector<std::string>& candidates);

// "did you mean `x`?" for a caret's label, or an empty text when there is nothing to suggest.
[[nodiscard]] std::string did_you_mean(std::string_view suggestion);

// "a, b, c": of texts, or of pairs that begin with one.
template <class Names>
[[nodiscard]] std::string listed(const Names& names) {
  std::string list;
  for (const auto& each : names) {
    list += list.empty() ? "" : ", ";
    if constexpr (requires { each.first; }) {
      list += each.first;
    } else {
      list += each;
    }
  }
  return list;
}

}  // namespace payoff
