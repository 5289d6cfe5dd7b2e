// SPDX-License-Identifier: Apache-2.0
#include "model/kernel_waves.hpp"

#include <algorithm>
#include <cmath>

#include "model/interference.hpp"

namespace payoff {
namespace {

// What was seen of a slow-down by law.
double seen(double by_law, double share) {
  return std::min(most_slowdown, 1.0 + (by_law - 1.0) * share);
}

// While so many units are held.
Pace pace(const KernelMix& mix, int units, int held, double seen_share) {
  const int left = units - held;
  const double limit = static_cast<double>(units) / left;
  double time = limit;
  double idle = 0.0;
  for (const KnownKernel& kernel : mix.known) {
    const double share = kernel.time / mix.all;
    const double by_waves = 1.0 / kernel_rate(kernel.blocks, units, held);
    const auto places = static_cast<double>(waves(kernel.blocks, left) * left);
    time += share * (by_waves - limit);
    idle += share * by_waves * (1.0 - static_cast<double>(kernel.blocks) / places);
  }
  return Pace(1.0 / seen(time, seen_share), idle / time);
}

}  // namespace

WaveTable::WaveTable(int units, const PairLaw& beside_message)
    : units_(std::max(1, units)),
      share_(beside_message.measured ? beside_message.share : 1.0),
      held_(static_cast<std::size_t>(units_ / 2) + 1) {}

std::size_t WaveTable::add(const KernelMix& mix) {
  if (mix.known.empty()) {
    return 0;
  }
  const auto known = std::find(mixes_.begin(), mixes_.end(), mix);
  const auto number = static_cast<std::size_t>(known - mixes_.begin()) + 1;
  if (known == mixes_.end()) {
    mixes_.push_back(mix);
    held_.front().emplace_back(1.0, pace(mix, units_, 0, share_).idle_share);
    for (std::size_t held = 1; held < held_.size(); ++held) {
      held_[held].push_back(pace(mix, units_, static_cast<int>(held), share_));
    }
  }
  return number;
}

Paces WaveTable::paces(double held_share) const {
  const auto held = static_cast<std::size_t>(std::lround(held_share * units_));
  const Pace any(share_ == 1.0 ? 1.0 - held_share : 1.0 / seen(1.0 / (1.0 - held_share), share_));
  return {any, held_[std::min(held, held_.size() - 1)].data()};
}

}  // namespace payoff
