// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/incidence.hpp"
#include "sim/refinement.hpp"

// Folding: what simulates the classes of a partition (sim/refinement.hpp) instead of their members.
// Max-min rates are constant on such classes and so are the dates of everything that follows, so
// one place of each class is simulated, and nothing is lost: folded and unfolded steps are equal to
// the picosecond.

namespace payoff::sim {

// The places, groups and loads of classes instead of their members.
struct FoldedSystem {
  struct ClassLoad {
    std::uint32_t link{};
    double units{};  // of one channel of the class
    double count{};  // how many of the class put this on one link of its class
  };
  struct Channel {
    Incidence::Role role{};
    std::size_t stage{};
    std::vector<ClassLoad> ring;
    std::vector<ClassLoad> pairs;
  };
  struct Link {
    EdgeId edge{};  // of one of the class
    std::uint64_t alike{1};
    Bandwidth capacity{};
    bool inside{};
  };
  Places places;  // groups are channels, by number
  std::vector<Channel> channels;
  std::vector<std::uint32_t> forward;  // channels of a place, or Incidence::none
  std::vector<std::uint32_t> backward;
  std::vector<Link> links;
};
[[nodiscard]] FoldedSystem quotient(const Incidence& incidence, const Partition& partition);

// The first member of every class.
[[nodiscard]] std::vector<std::uint32_t> representatives(const std::vector<std::uint32_t>& classes,
                                                         std::uint32_t count);

}  // namespace payoff::sim
