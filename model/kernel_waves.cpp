// SPDX-License-Identifier: Apache-2.0
#include "model/kernel_waves.hpp"

#include <algorithm>
#include <cmath>

#include "model/interference.hpp"

namespace payoff {
namespace {

// How long the mix takes, relative to alone.
double longer(const KernelMix& mix, int units, int held) {
  const double limit = static_cast<double>(units) / (units - held);
  double sum = limit;
  for (const KnownKernel& kernel : mix.known) {
    const double by_waves = 1.0 / kernel_rate(kernel.blocks, units, held);
    sum += kernel.time / mix.all * (by_waves - limit);
  }
  return sum;
}

}  // namespace

WaveTable::WaveTable(int units)
    : units_(std::max(1, units)), held_(static_cast<std::size_t>(units_ / 2) + 1) {}

std::size_t WaveTable::add(const KernelMix& mix) {
  if (mix.known.empty()) {
    return 0;
  }
  const auto known = std::find(mixes_.begin(), mixes_.end(), mix);
  const auto number = static_cast<std::size_t>(known - mixes_.begin()) + 1;
  if (known == mixes_.end()) {
    mixes_.push_back(mix);
    held_.front().emplace_back();
    for (std::size_t held = 1; held < held_.size(); ++held) {
      held_[held].emplace_back(1.0 / longer(mix, units_, static_cast<int>(held)));
    }
  }
  return number;
}

Paces WaveTable::paces(double held_share) const {
  const auto held = static_cast<std::size_t>(std::lround(held_share * units_));
  return {held_share, held_[std::min(held, held_.size() - 1)].data()};
}

}  // namespace payoff
