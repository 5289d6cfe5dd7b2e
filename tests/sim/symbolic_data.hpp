// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/program.hpp"

// Programs executed on data that says whose it is: whether every rank ends with the contributions
// that its collective promises, each exactly once.

namespace payoff::sim::test {

// How often every rank's data is in every chunk of every place.
class SymbolicData {
 public:
  explicit SymbolicData(const Program& program);

  // What is sent in a step is what was there before it.
  void execute();

  [[nodiscard]] int at(Rank place, std::uint32_t chunk, Rank origin) const {
    return counts_[index(place, chunk, origin)];
  }

 private:
  [[nodiscard]] std::size_t index(Rank place, std::uint32_t chunk, Rank origin) const {
    return (std::size_t{place} * program_.chunks() + chunk) * program_.ranks() + origin;
  }
  [[nodiscard]] bool has(Rank rank, std::uint32_t chunk) const;

  const Program& program_;
  std::vector<int> counts_;
};

void check_result(const Program& program);

}  // namespace payoff::sim::test
