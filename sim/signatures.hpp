// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

// What tells the members of a class apart when a partition is refined: a list of words for each
// member, equal for members that are alike. What has no order of its own is sorted before it is
// compared.

namespace payoff::sim {

class Signatures {
 public:
  // The list of the next member begins.
  void begin() { first_.push_back(words_.size()); }
  void add(std::uint64_t word) { words_.push_back(word); }

  [[nodiscard]] std::size_t here() const { return words_.size(); }

  // The words that were added since `from`, in groups of Width, in an order of their own.
  template <std::size_t Width>
  void sort_from(std::size_t from) {
    std::vector<std::array<std::uint64_t, Width>> tuples((words_.size() - from) / Width);
    for (std::size_t i = 0; i < tuples.size(); ++i) {
      std::copy_n(words_.begin() + static_cast<std::ptrdiff_t>(from + i * Width), Width,
                  tuples[i].begin());
    }
    std::sort(tuples.begin(), tuples.end());
    for (std::size_t i = 0; i < tuples.size(); ++i) {
      std::copy(tuples[i].begin(), tuples[i].end(),
                words_.begin() + static_cast<std::ptrdiff_t>(from + i * Width));
    }
  }

  // Classes of equal lists, numbered by their first member; how many there are. To be called once,
  // after the last member.
  std::uint32_t classify(std::vector<std::uint32_t>& classes);

 private:
  std::vector<std::uint64_t> words_;
  std::vector<std::size_t> first_;
};

}  // namespace payoff::sim
