// SPDX-License-Identifier: Apache-2.0
#include "model/step_plan.hpp"

#include <algorithm>

namespace payoff {
namespace {

// Of what is in order of its pieces.
template <typename T, typename PieceOf>
PieceRange in_range(const std::vector<T>& all, const PieceRange& pieces, PieceOf piece_of) {
  const auto first_from = [&](std::size_t piece) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const T& one) { return piece_of(one) >= piece; });
    return static_cast<std::size_t>(found - all.begin());
  };
  return {first_from(pieces.begin), first_from(pieces.end)};
}

}  // namespace

PieceRange gathers_in(const std::vector<WeightGather>& gathers, const PieceRange& pieces) {
  return in_range(gathers, pieces, [](const WeightGather& gather) { return gather.needed_by; });
}

PieceRange buckets_in(const std::vector<Bucket>& buckets, const PieceRange& pieces) {
  return in_range(buckets, pieces, [](const Bucket& bucket) {
    return static_cast<std::size_t>(bucket.ready_after);
  });
}

}  // namespace payoff
