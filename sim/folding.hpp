// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/incidence.hpp"

// Folding: the coarsest equitable partition of an incidence of ranks, channels and links. Two ranks
// are of one class only if they run the same stage at the same speed and their channels are of the
// same classes; two channels only if their ranks are and they put the same loads on links of the
// same classes; two links only if they are as wide and carry the same from the same classes.
// Max-min rates are constant on such classes and so are the dates of everything that follows, so
// one place of each class is simulated, and nothing is lost: folded and unfolded steps are equal to
// the picosecond. (Colour refinement: Grohe, Kersting, Mladenov, Selman, "Dimension Reduction via
// Colour Refinement", ESA 2014, for linear programs.)

namespace payoff::sim {

// Class of each, counted from 0 without gaps.
struct Partition {
  std::vector<std::uint32_t> ranks;
  std::vector<std::uint32_t> channels;
  std::vector<std::uint32_t> links;
  std::uint32_t rank_classes{};
  std::uint32_t channel_classes{};
  std::uint32_t link_classes{};
};

[[nodiscard]] Partition fold(const Incidence& incidence);
// Everything in a class of its own.
[[nodiscard]] Partition unfolded(const Incidence& incidence);

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

}  // namespace payoff::sim
