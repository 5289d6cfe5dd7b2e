// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/platform.hpp"
#include "sim/program_sends.hpp"
#include "sim/refinement.hpp"

// The program of a class of groups: its places are the classes of seats, and one send stands for
// all of its class. Every one of these is made, waited for and slowed like it.

namespace payoff::sim {

struct ClassProgram {
  ProgramSends sends;
  // What a send puts on links for each of its bytes, with the count of its like there. By pattern,
  // then send.
  std::vector<std::vector<std::vector<LinkLoad>>> ways;

  [[nodiscard]] const std::vector<LinkLoad>& way(std::uint32_t step, std::uint32_t index) const {
    return ways[sends.pattern_of_step[step]][index];
  }
};

// Of the programs of a step; links are classes, as in quotient() (sim/folding.hpp).
class ClassPrograms {
 public:
  // What is referred to has to outlive it.
  ClassPrograms(const Incidence& incidence, const SendIncidence& sends, const Partition& partition);

  [[nodiscard]] ClassProgram of(const SendIncidence::Laid& program) const;

 private:
  const SendIncidence& sends_;
  const Partition& partition_;
  std::vector<std::vector<LinkLoad>> loads_;  // of a class of sends
};

}  // namespace payoff::sim
