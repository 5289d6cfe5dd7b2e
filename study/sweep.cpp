// SPDX-License-Identifier: Apache-2.0
#include "study/sweep.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <unordered_set>
#include <utility>

namespace payoff {
namespace {

// The generator is the same everywhere; the distributions of the standard library are not.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  // Below `end`, every number equally likely: draws beyond the last whole multiple are thrown away.
  std::uint64_t below(std::uint64_t end) {
    const std::uint64_t rest = (std::numeric_limits<std::uint64_t>::max() % end + 1) % end;
    std::uint64_t drawn = engine_();
    while (drawn > std::numeric_limits<std::uint64_t>::max() - rest) {
      drawn = engine_();
    }
    return drawn % end;
  }

 private:
  std::mt19937_64 engine_;
};

// `count` different numbers below `end`, ascending (Floyd's sampling, so that the grid may be
// larger than any list of it).
std::vector<std::uint64_t> sample(std::uint64_t count, std::uint64_t end, Dice& dice) {
  std::unordered_set<std::uint64_t> taken;
  std::vector<std::uint64_t> result;
  result.reserve(count);
  for (std::uint64_t last = end - count; last < end; ++last) {
    const std::uint64_t drawn = dice.below(last + 1);
    const std::uint64_t number = taken.insert(drawn).second ? drawn : last;
    taken.insert(number);
    result.push_back(number);
  }
  std::sort(result.begin(), result.end());
  return result;
}

// The values 0..values-1 over and over, in a random order.
std::vector<std::size_t> shuffled(std::size_t values, std::uint64_t count, Dice& dice) {
  std::vector<std::size_t> order(values);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto shuffle = [&dice](std::vector<std::size_t>& list) {
    for (std::size_t i = list.size(); i > 1; --i) {
      std::swap(list[i - 1], list[dice.below(i)]);
    }
  };
  shuffle(order);  // which values come once more is random too
  std::vector<std::size_t> result(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    result[i] = order[i % values];
  }
  shuffle(result);
  return result;
}

}  // namespace

std::uint64_t grid_size(const std::vector<SweepAxis>& axes) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t size = 1;
  for (const SweepAxis& axis : axes) {
    size = size > most / axis.values.size() ? most : size * axis.values.size();
  }
  return size;
}

SweepDesign::SweepDesign(std::vector<SweepAxis> axes, Sampling sampling, std::uint64_t wanted,
                         std::uint64_t seed)
    : axes_(std::move(axes)), sampling_(sampling) {
  const std::uint64_t grid = grid_size(axes_);
  Dice dice(seed);
  switch (sampling_) {
    case Sampling::grid:
      jobs_ = grid;
      break;
    case Sampling::zipped:
      jobs_ = axes_.empty() ? 1 : axes_.front().values.size();
      break;
    case Sampling::random:
      jobs_ = std::min(wanted, grid);
      picked_ = sample(jobs_, grid, dice);
      break;
    case Sampling::latin:
      jobs_ = wanted;
      for (const SweepAxis& axis : axes_) {
        columns_.push_back(shuffled(axis.values.size(), jobs_, dice));
      }
      break;
  }
}

std::vector<std::size_t> SweepDesign::job(std::uint64_t number) const {
  std::vector<std::size_t> values(axes_.size(), static_cast<std::size_t>(number));
  if (sampling_ == Sampling::zipped) {
    return values;
  }
  if (sampling_ == Sampling::latin) {
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      values[a] = columns_[a][number];
    }
    return values;
  }
  std::uint64_t rest = sampling_ == Sampling::random ? picked_[number] : number;
  for (std::size_t a = axes_.size(); a-- > 0;) {
    values[a] = static_cast<std::size_t>(rest % axes_[a].values.size());
    rest /= axes_[a].values.size();
  }
  return values;
}

}  // namespace payoff
