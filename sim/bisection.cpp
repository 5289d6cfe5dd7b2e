// SPDX-License-Identifier: Apache-2.0
#include "sim/bisection.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "sim/invariant.hpp"
#include "sim/max_flow.hpp"

namespace payoff::sim {
namespace {

constexpr Rank most_ranks_tried_all = 12;

bool same_both_ways(const LinkGraph& links) {
  return std::all_of(links.edges().begin(), links.edges().end(), [&](const Edge& edge) {
    const auto back = links.find(edge.to, edge.from);
    return back && links.edges()[*back].capacity == edge.capacity;
  });
}

std::vector<std::vector<Rank>> all_divisions(Rank ranks) {
  std::vector<std::vector<Rank>> halves;
  // Rank 0 is always in the half that is listed, which is the larger one of an odd number.
  for (std::uint32_t set = 1; set < (1U << ranks); set += 2) {
    if (static_cast<Rank>(std::popcount(set)) != (ranks + 1) / 2) {
      continue;
    }
    std::vector<Rank>& half = halves.emplace_back();
    for (Rank r = 0; r < ranks; ++r) {
      if ((set >> r) % 2 == 1) {
        half.push_back(r);
      }
    }
  }
  return halves;
}

}  // namespace

std::vector<std::vector<Rank>> divisions(Rank ranks) {
  if (ranks <= most_ranks_tried_all) {
    return all_divisions(ranks);
  }
  std::vector<std::vector<Rank>> halves;
  const Rank half = (ranks + 1) / 2;
  for (Rank block = 1; block <= half; ++block) {
    if (block != half && (half % block != 0 || ranks % 2 != 0)) {
      continue;
    }
    std::vector<Rank>& taken = halves.emplace_back();
    for (Rank r = 0; r < ranks; ++r) {
      if (r / block % 2 == 0) {
        taken.push_back(r);
      }
    }
  }
  return halves;
}

Bisection bisection(const LinkGraph& links) {
  const auto ranks = static_cast<Rank>(links.ranks());
  PAYOFF_INVARIANT(ranks >= 2, "fewer than two ranks have no bisection");
  MaxFlow flow(links);
  const bool symmetric = same_both_ways(links);
  Bisection worst{{}, ranks <= most_ranks_tried_all, {}};
  for (std::vector<Rank>& half : divisions(ranks)) {
    std::vector<bool> in_half(ranks);
    std::vector<VertexId> a;
    std::vector<VertexId> b;
    for (const Rank r : half) {
      in_half[r] = true;
    }
    for (Rank r = 0; r < ranks; ++r) {
      (in_half[r] ? a : b).push_back(links.gpu(r));
    }
    Bandwidth carried = flow.between(a, b);
    if (!symmetric) {
      carried = std::min(carried, flow.between(b, a));
    }
    if (worst.half.empty() || carried < worst.bandwidth) {
      worst.bandwidth = carried;
      worst.half = std::move(half);
    }
  }
  return worst;
}

}  // namespace payoff::sim
