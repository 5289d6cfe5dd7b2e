// SPDX-License-Identifier: Apache-2.0
#include "sim/signatures.hpp"

#include <numeric>
#include <span>

namespace payoff::sim {

std::uint32_t Signatures::classify(std::vector<std::uint32_t>& classes) {
  first_.push_back(words_.size());
  std::vector<std::uint32_t> order(first_.size() - 1);
  std::iota(order.begin(), order.end(), 0U);
  const auto words = [&](std::uint32_t i) {
    return std::span(words_).subspan(first_[i], first_[i + 1] - first_[i]);
  };
  const auto less = [&](std::uint32_t a, std::uint32_t b) {
    const auto left = words(a);
    const auto right = words(b);
    return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end());
  };
  std::stable_sort(order.begin(), order.end(), less);
  std::vector<std::uint32_t> first_of(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool same = i > 0 && !less(order[i - 1], order[i]);
    first_of[order[i]] = same ? first_of[order[i - 1]] : order[i];
  }
  classes.resize(order.size());
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    classes[i] = first_of[i] == i ? count++ : classes[first_of[i]];
  }
  return count;
}

}  // namespace payoff::sim
