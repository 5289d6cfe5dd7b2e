// SPDX-License-Identifier: Apache-2.0
#include "model/textbook.hpp"

#include <algorithm>

#include "model/alpha_beta.hpp"
#include "model/group_paths.hpp"

namespace payoff {

TextbookAllReduce textbook_all_reduce(const Cluster& cluster, const Group& group, Bytes size) {
  const GroupPaths paths = paths_of(cluster, group);
  const AlphaBeta inside{cluster.fabric.law.step_simple, paths.gpu};
  if (paths.domains == 1) {
    const Seconds ring = ring_all_reduce(paths.ranks, size, inside);
    return {ring, halving_doubling_all_reduce(paths.ranks, size, inside),
            tree_all_reduce(paths.ranks, size, inside), ring};
  }
  const Bandwidth part = paths.domain / paths.local;
  const bool alone = paths.local == 1;
  const Seconds alpha = cluster.network.law.step_simple;
  const AlphaBeta all_nics{alpha, alone ? paths.domain : std::min(paths.gpu, paths.domain)};
  const AlphaBeta own_part{alpha, alone ? part : std::min(paths.gpu, part)};
  return {ring_all_reduce(paths.ranks, size, all_nics),
          halving_doubling_all_reduce(paths.ranks, size, own_part),
          tree_all_reduce(paths.ranks, size, own_part),
          two_level_all_reduce(paths.local, paths.domains, size, inside, {alpha, part})};
}

}  // namespace payoff
