// SPDX-License-Identifier: Apache-2.0
#include "profiles/suggest.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>

namespace payoff {
namespace {

// In quarters of a letter, so that a change of case costs less than a wrong letter.
constexpr std::size_t letter_cost = 4;
constexpr std::size_t case_cost = 1;
// Nobody types a word of this length by hand; keeps the quadratic table small.
constexpr std::size_t longest_word = 80;

char folded(char c) {
  if (c >= 'A' && c <= 'Z') {
    return static_cast<char>(c - 'A' + 'a');
  }
  return c == '-' ? '_' : c;
}

std::size_t change_cost(char a, char b) {
  if (a == b) {
    return 0;
  }
  return folded(a) == folded(b) ? case_cost : letter_cost;
}

// Restricted Damerau-Levenshtein distance of words that are not longer than longest_word, over
// three rows of the usual table. Anything above `bound` where it is above that.
std::size_t distance(std::string_view a, std::string_view b, std::size_t bound) {
  using Row = std::array<std::size_t, longest_word + 1>;
  std::array<Row, 3> rows{};
  std::size_t* before = rows[0].data();
  std::size_t* above = rows[1].data();
  std::size_t* row = rows[2].data();
  for (std::size_t j = 0; j <= b.size(); ++j) {
    above[j] = j * letter_cost;
  }
  std::size_t least_above = 0;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i * letter_cost;
    std::size_t least = row[0];
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + letter_cost, row[j - 1] + letter_cost,
                         above[j - 1] + change_cost(a[i - 1], b[j - 1])});
      const bool swapped = i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) &&
                           folded(a[i - 2]) == folded(b[j - 1]);
      if (swapped) {
        row[j] = std::min(row[j], before[j - 2] + letter_cost);
      }
      least = std::min(least, row[j]);
    }
    // What follows builds on this row, or for two letters that are swapped on the one above.
    if (std::min(least, least_above + letter_cost) > bound) {
      return bound + 1;
    }
    least_above = least;
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

bool is_separator(char c) { return c == '-' || c == '_' || c == '.' || c == ':'; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Whether the candidate is the word and more words: `pytorch-ddp` of `pytorch-ddp-2021`.
bool is_begun_by(std::string_view candidate, std::string_view word) {
  if (word.size() < 3 || candidate.size() <= word.size()) {
    return false;
  }
  const char next = candidate[word.size()];
  return (is_separator(next) || (is_digit(next) && !is_digit(word.back()))) &&
         std::equal(word.begin(), word.end(), candidate.begin(),
                    [](char a, char b) { return folded(a) == folded(b); });
}

// Below that of a wrong letter.
constexpr std::size_t completion_cost = 2;

// Of a word to a candidate, or to the beginning of a longer candidate: `expsed` of `exposed_dp`.
std::size_t distance_to_beginning(std::string_view word, std::string_view candidate,
                                  std::size_t bound) {
  constexpr std::size_t shortest = 5;
  std::size_t best = distance(word, candidate, bound);
  for (std::size_t end = shortest; end < candidate.size(); ++end) {
    if (is_separator(candidate[end]) && word.size() >= shortest) {
      const std::size_t found = distance(word, candidate.substr(0, end), bound) + completion_cost;
      best = found <= letter_cost + completion_cost ? std::min(best, found) : best;
    }
  }
  return best;
}

}  // namespace

std::string_view closest(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  if (word.empty() || word.size() > longest_word) {
    return best;
  }
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > longest_word) {
      continue;
    }
    const std::size_t letters = std::max(word.size(), candidate.size());
    const std::size_t allowed = letter_cost * std::max<std::size_t>(1, letters / 3);
    const bool begun = is_begun_by(candidate, word);
    const std::size_t found =
        begun ? completion_cost : distance_to_beginning(word, candidate, allowed);
    // A word of one or two letters of which one is wrong resembles everything.
    const bool resembles = found <= allowed && (letters > 2 || found < letter_cost);
    const bool shorter = begun && found == best_distance && candidate.size() < best.size();
    if (resembles && (found < best_distance || shorter)) {
      best = candidate;
      best_distance = found;
    }
  }
  return best;
}

std::string closest(std::string_view word, const std::vector<std::string>& candidates) {
  const std::vector<std::string_view> views(candidates.begin(), candidates.end());
  return std::string(closest(word, std::span<const std::string_view>(views)));
}

std::string did_you_mean(std::string_view suggestion) {
  return suggestion.empty() ? std::string() : "did you mean `" + std::string(suggestion) + "`?";
}

}  // namespace payoff
