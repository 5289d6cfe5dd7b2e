// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <optional>

#include "sim/program_shape.hpp"
#include "sim/program_steps.hpp"

namespace payoff::sim {
namespace detail {
namespace {

// The segment that is due in `step`, where the first one is in step `first`.
std::optional<std::uint32_t> segment_at(std::uint32_t step, std::uint32_t first,
                                        std::uint32_t segments) {
  return step >= first && step - first < segments ? std::optional(step - first) : std::nullopt;
}

// Between servers, once GPU k has the sums of its own: up and down the trees of the GPUs k.
void nvls_trees(const NvlsProgram& program, const ProgramShape& shape, std::uint32_t step,
                std::vector<Send>& sends) {
  constexpr std::uint32_t begin = 2;
  const std::uint32_t segments = shape.segments;
  const auto trees = static_cast<std::uint32_t>(shape.parent.size());
  for (Rank gpu = 0; gpu < shape.ranks; ++gpu) {
    const Rank server = gpu / program.gpus;
    const Rank k = gpu % program.gpus;
    for (std::uint32_t t = 0; t < trees; ++t) {
      const Rank parent = shape.parent[t][server] * program.gpus + k;
      if (parent == gpu) {
        continue;
      }
      const std::uint32_t depth = shape.depth[t][server];
      const std::uint32_t own = (k * trees + t) * segments;
      if (const auto i = segment_at(step, begin + shape.deepest - depth, segments)) {
        sends.push_back({gpu, parent, own + *i, 1, 1, true});
      }
      if (const auto i = segment_at(step, begin + shape.deepest + depth - 1, segments)) {
        sends.push_back({parent, gpu, own + *i, 1, 1, false});
      }
    }
  }
}

// Of one part, what its roots in all servers have: each to the one that sums it, or the sum to all.
void between_roots(const ProgramShape& trees, std::uint32_t part, bool adds,
                   std::vector<Send>& sends) {
  std::vector<Rank> roots;
  for (Rank r = 0; r < trees.places; ++r) {
    if (trees.parent[part][r] == r) {
      roots.push_back(r);
    }
  }
  const auto servers = static_cast<std::uint32_t>(roots.size());
  const std::uint32_t first = part * trees.segments * servers;
  for (std::uint32_t from = 0; from < servers; ++from) {
    for (std::uint32_t to = 0; to < servers; ++to) {
      if (from != to) {
        sends.push_back(
            {roots[from], roots[to], first + (adds ? to : from), trees.segments, servers, adds});
      }
    }
  }
}

}  // namespace

// A rank at depth d sends segment i up in step deepest - d + i, and gets it down in the mirrored
// one. Trees that are less deep wait at their leaves, and reach the root with the others.
void tree_step(const ProgramShape& trees, TreeWays ways, std::uint32_t step,
               std::vector<Send>& sends) {
  const auto count = static_cast<std::uint32_t>(trees.parent.size());
  const std::uint32_t turn = ways.up ? trees.deepest : 0;  // the first step down
  for (Rank r = 0; r < trees.places; ++r) {
    for (std::uint32_t t = 0; t < count; ++t) {
      const Rank parent = trees.parent[t][r];
      if (parent == r) {
        continue;
      }
      const std::uint32_t depth = trees.depth[t][r];
      if (const auto up = segment_at(step, trees.deepest - depth, trees.segments); ways.up && up) {
        sends.push_back({r, parent, t * trees.segments + *up, 1, 1, true});
      }
      if (const auto down = segment_at(step, turn + depth - 1, trees.segments); ways.down && down) {
        sends.push_back({parent, r, t * trees.segments + *down, 1, 1, false});
      }
    }
  }
}

void server_trees_step(const ProgramShape& trees, std::uint32_t step, std::vector<Send>& sends) {
  const auto parts = static_cast<std::uint32_t>(trees.parent.size());
  const std::uint32_t per_part = trees.chunks / parts;
  const std::uint32_t servers = per_part / trees.segments;
  const std::uint32_t inside = trees.deepest + trees.segments - 1;  // steps of a phase
  if (step == inside || step == inside + 1) {
    for (std::uint32_t t = 0; t < parts; ++t) {
      between_roots(trees, t, step == inside, sends);
    }
    return;
  }
  const bool up = step < inside;
  const std::uint32_t of_phase = up ? step : step - inside - 2;
  for (Rank r = 0; r < trees.places; ++r) {
    for (std::uint32_t t = 0; t < parts; ++t) {
      const Rank parent = trees.parent[t][r];
      const std::uint32_t depth = trees.depth[t][r];
      if (parent == r) {
        continue;
      }
      const std::uint32_t first = up ? trees.deepest - depth : depth - 1;
      if (const auto i = segment_at(of_phase, first, trees.segments)) {
        sends.push_back(
            {up ? r : parent, up ? parent : r, t * per_part + *i * servers, servers, 1, up});
      }
    }
  }
}

// Chunk (k * trees + t) * segments + i: segment i of what GPU k of a server has, tree t of it. Each
// segment passes the phases: to the switch, the sum to GPU k, up and down the trees between
// servers, back to the switch, to all.
void nvls_step(const NvlsProgram& program, const ProgramShape& shape, std::uint32_t step,
               std::vector<Send>& sends) {
  const std::uint32_t segments = shape.segments;
  const std::uint32_t trees = shape.chunks / segments / program.gpus;
  const std::uint32_t all = program.gpus * trees;
  const bool adds = program.outcome != Outcome::gathered;
  const bool returns = program.outcome != Outcome::scattered_sums;
  const std::uint32_t back = (adds ? 2 : 0) + 2 * shape.deepest;
  for (Rank gpu = 0; gpu < shape.ranks; ++gpu) {
    const Rank in_switch = shape.ranks + gpu / program.gpus;
    const std::uint32_t own = gpu % program.gpus * trees * segments;
    if (const auto i = segment_at(step, 0, segments); adds && i) {
      sends.push_back({gpu, in_switch, *i, all, segments, true});
    }
    if (const auto i = segment_at(step, 1, segments); adds && i) {
      sends.push_back({in_switch, gpu, own + *i, trees, segments, false});
    }
    if (const auto i = segment_at(step, back, segments); returns && i) {
      sends.push_back({gpu, in_switch, own + *i, trees, segments, false});
    }
    if (const auto i = segment_at(step, back + 1, segments); returns && i) {
      sends.push_back({in_switch, gpu, *i, all, segments, false});
    }
  }
  nvls_trees(program, shape, step, sends);
}

}  // namespace detail

// Rank r of the first tree hangs by the lowest bit of r, so that odd ranks are leaves; the second
// tree is the first one with all ranks moved on by one (an even number) or mirrored.
std::vector<std::vector<Rank>> double_tree(Rank ranks) {
  std::vector<Rank> first(ranks);
  const Rank top = std::bit_floor(ranks - 1);
  first[0] = 0;
  for (Rank r = 1; r < ranks; ++r) {
    const Rank bit = r & (~r + 1);
    Rank up = (r ^ bit) | (bit << 1U);
    if (up >= ranks) {
      up = r ^ bit;
    }
    first[r] = r == top ? 0 : up;
  }
  std::vector<Rank> second(ranks);
  for (Rank r = 0; r < ranks; ++r) {
    if (ranks % 2 == 0) {
      second[ranks - 1 - r] = ranks - 1 - first[r];
    } else {
      second[(r + 1) % ranks] = (first[r] + 1) % ranks;
    }
  }
  return {first, second};
}

}  // namespace payoff::sim
