// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/hardware.hpp"
#include "model/units.hpp"

// How fast a piece of work runs while messages hold compute units. A piece is kernels in a row: one
// whose blocks are known, one block a unit, takes waves(blocks, U - C) / waves(blocks, U) times as
// long (model/interference.hpp), counted again whenever C changes; every other one U / (U - C), the
// limit of many short blocks. The piece takes the mean of its kernels, weighted by their times
// alone, from wherever in it a message starts. What a piece takes alone is not touched. A second
// stream finds idle what the last waves leave: 1 - blocks / (waves (U - C)) of the units of a known
// kernel, none of another one, in the mean over the time that each takes beside the message.
// Computed for every C when a job is prepared, and looked up by both engines. On a GPU where
// compute was measured beside messages, the share of all this that was seen.

namespace payoff {

// `time`: on the GPU.
struct KnownKernel {
  std::int64_t blocks{};
  Seconds time{};

  bool operator==(const KnownKernel&) const = default;
};
struct KernelMix {
  Seconds all{};
  std::vector<KnownKernel> known;  // the rest of the time is kernels of unknown blocks

  bool operator==(const KernelMix&) const = default;
};

// Of work beside messages: how fast, and how long, relative to alone; and of the units that are
// left to it, the share that its last waves leave idle.
struct Pace {
  Pace() = default;
  explicit Pace(double relative, double idle = 0.0)
      : rate(relative), time(1.0 / relative), idle_share(idle) {}
  double rate = 1.0;
  double time = 1.0;
  double idle_share = 0.0;
};

// Paces of all work while so many units are held. Views into its table.
class Paces {
 public:
  Paces() = default;
  // `any`: of kernels of unknown blocks; `mixes`: by number, from 1; null: of no mix anything is
  // known.
  Paces(const Pace& any, const Pace* mixes) : any_(any), mixes_(mixes) {}

  [[nodiscard]] bool slow() const { return any_.rate < 1.0; }
  // Of the mix of this number; 0: kernels of unknown blocks.
  [[nodiscard]] const Pace& operator[](std::size_t mix) const {
    return mix == 0 || mixes_ == nullptr ? any_ : mixes_[mix - 1];
  }

 private:
  Pace any_;
  const Pace* mixes_ = nullptr;
};

class WaveTable {
 public:
  // `beside_message`: what was measured of the slow-down that messages cause.
  explicit WaveTable(int units, const PairLaw& beside_message = {});

  // The number of a mix, the same for equal ones; 0 where no kernel of it is known.
  std::size_t add(const KernelMix& mix);
  // While a share of the units is held: at most half of them.
  [[nodiscard]] Paces paces(double held_share) const;

 private:
  int units_;
  double share_;  // of the law's slow-down
  std::vector<KernelMix> mixes_;
  std::vector<std::vector<Pace>> held_;  // by units held, then by mix
};

}  // namespace payoff
