// SPDX-License-Identifier: Apache-2.0
#include "sim/signatures.hpp"

#include <algorithm>
#include <bit>
#include <span>

namespace payoff::sim {
namespace {

std::uint64_t hash_of(std::span<const std::uint64_t> words) {
  std::uint64_t hash = words.size();
  for (const std::uint64_t word : words) {
    hash = (std::rotl(hash, 23) ^ word) * 0x9e3779b97f4a7c15U;
  }
  return hash ^ hash >> 32U;
}

}  // namespace

// By a table of the first members that were seen; a hash only says where to look.
std::uint32_t Signatures::classify(std::vector<std::uint32_t>& classes) {
  constexpr std::uint32_t none = 0xffffffff;
  first_.push_back(words_.size());
  const std::size_t members = first_.size() - 1;
  const auto words = [&](std::size_t i) {
    return std::span(words_).subspan(first_[i], first_[i + 1] - first_[i]);
  };
  const std::size_t slots = std::bit_ceil(2 * members + 1);
  std::vector<std::uint32_t> table(slots, none);  // of a class
  std::vector<std::uint32_t> firsts;              // of a class, its first member
  classes.resize(members);
  for (std::size_t i = 0; i < members; ++i) {
    const auto own = words(i);
    std::size_t slot = hash_of(own) & (slots - 1);
    while (table[slot] != none && !std::ranges::equal(own, words(firsts[table[slot]]))) {
      slot = (slot + 1) & (slots - 1);
    }
    if (table[slot] == none) {
      table[slot] = static_cast<std::uint32_t>(firsts.size());
      firsts.push_back(static_cast<std::uint32_t>(i));
    }
    classes[i] = table[slot];
  }
  return static_cast<std::uint32_t>(firsts.size());
}

}  // namespace payoff::sim
