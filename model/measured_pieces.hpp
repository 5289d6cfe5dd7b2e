// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "model/step_plan.hpp"

// Priced pieces of a layer that was measured (model/layer_times.hpp): they take what was measured,
// in the proportions of their prices.

namespace payoff {

// What was measured over what is priced: the work of a kind from piece `first` on, and `elsewhere`
// of the same layer. 1 where nothing is priced.
[[nodiscard]] inline double measured_ratio(const std::vector<Piece>& pieces, std::size_t first,
                                           WorkKind kind, Seconds measured,
                                           Seconds elsewhere = {}) {
  Seconds priced = elsewhere;
  for (std::size_t i = first; i < pieces.size(); ++i) {
    priced += pieces[i].work.kind == kind ? pieces[i].work.alone : 0_s;
  }
  return priced > 0_s ? measured / priced : 1.0;
}

// What reads and writes for longer reads and writes more slowly.
inline void stretch(std::vector<Piece>& pieces, std::size_t first, WorkKind kind, double ratio) {
  for (std::size_t i = first; i < pieces.size(); ++i) {
    Work& work = pieces[i].work;
    if (work.kind == kind) {
      work.alone = ratio * work.alone;
      work.memory_share = ratio > 0 ? std::min(1.0, work.memory_share / ratio) : 0.0;
    }
  }
}

inline void use_measured(std::vector<Piece>& pieces, std::size_t first, WorkKind kind,
                         Seconds measured) {
  stretch(pieces, first, kind, measured_ratio(pieces, first, kind, measured));
}

}  // namespace payoff
