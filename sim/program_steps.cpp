// SPDX-License-Identifier: Apache-2.0
#include "sim/program_steps.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace payoff::sim {
namespace detail {

// Chunk r ends as the sum at rank r, and starts the gathering there.
void ring_step(Rank ranks, Outcome outcome, std::uint32_t step, std::vector<Send>& sends) {
  const bool adds = outcome != Outcome::gathered && step < ranks - 1;
  for (Rank r = 0; r < ranks; ++r) {
    const std::uint32_t late = adds ? step + 1 : step % (ranks - 1);
    sends.push_back({r, (r + 1) % ranks, (r + ranks - late) % ranks, 1, 1, adds});
  }
}

void rail_rings_step(Rank servers, Rank gpus, Outcome outcome, std::uint32_t step,
                     std::vector<Send>& sends) {
  std::vector<Send> ring;
  ring_step(servers * gpus, outcome, step, ring);
  for (Rank k = 0; k < gpus; ++k) {
    const auto rank = [&](Rank place) { return place / gpus * gpus + (k + place % gpus) % gpus; };
    for (const Send& send : ring) {
      sends.push_back(
          {rank(send.from), rank(send.to), rank(send.first) * gpus + k, 1, 1, send.adds});
    }
  }
}

void halving_step(Rank ranks, std::uint32_t step, std::vector<Send>& sends) {
  const auto rounds = static_cast<std::uint32_t>(std::countr_zero(ranks));
  const bool adds = step < rounds;
  // The distance between partners, which is the number of chunks that they exchange.
  const std::uint32_t distance = adds ? ranks >> (step + 1) : std::uint32_t{1} << (step - rounds);
  for (Rank r = 0; r < ranks; ++r) {
    const Rank partner = r ^ distance;
    const Rank owner = adds ? partner : r;  // of the half that is sent
    sends.push_back({r, partner, owner / distance * distance, distance, 1, adds});
  }
}

void bruck_step(Rank ranks, std::uint32_t step, std::vector<Send>& sends) {
  const std::uint32_t have = std::uint32_t{1} << step;
  for (Rank r = 0; r < ranks; ++r) {
    sends.push_back(
        {r, (r + ranks - have % ranks) % ranks, r, std::min(have, ranks - have), 1, false});
  }
}

void pairwise_step(Rank ranks, std::uint32_t step, std::vector<Send>& sends) {
  for (Rank r = 0; r < ranks; ++r) {
    const Rank to = (r + step + 1) % ranks;
    sends.push_back({r, to, r * ranks + to, 1, 1, false});
  }
}

// Inside a server, GPU b collects what its server has for the GPUs b of all servers: chunks of one
// sender, `gpus` apart. Between servers it passes on what is for one of them: chunks `n` apart.
void pxn_step(Rank servers, Rank gpus, std::uint32_t step, std::vector<Send>& sends) {
  const Rank n = servers * gpus;
  for (Rank r = 0; r < n; ++r) {
    const Rank server = r / gpus;
    if (step < gpus - 1) {
      const Rank rail = (r % gpus + step + 1) % gpus;
      sends.push_back({r, server * gpus + rail, r * n + rail, servers, gpus, false});
    } else {
      const Rank to = (server + step - (gpus - 1) + 1) % servers * gpus + r % gpus;
      sends.push_back({r, to, server * gpus * n + to, gpus, n, false});
    }
  }
}

// Chunk a * servers + s ends as the sum at GPU a of server s.
void hierarchical_step(Rank servers, Rank gpus, std::uint32_t step, std::vector<Send>& sends) {
  const std::uint32_t inside = gpus - 1;
  const std::uint32_t between = 2 * (servers - 1);
  std::vector<Send> ring;
  if (step < inside || step >= inside + between) {
    const bool adds = step < inside;
    ring_step(gpus, adds ? Outcome::scattered_sums : Outcome::gathered,
              adds ? step : step - inside - between, ring);
    for (Rank s = 0; s < servers; ++s) {
      for (const Send& send : ring) {
        sends.push_back({s * gpus + send.from, s * gpus + send.to, send.first * servers, servers, 1,
                         send.adds});
      }
    }
    return;
  }
  ring_step(servers, Outcome::all_reduced, step - inside, ring);
  for (const Send& send : ring) {
    for (Rank a = 0; a < gpus; ++a) {
      sends.push_back(
          {send.from * gpus + a, send.to * gpus + a, a * servers + send.first, 1, 1, send.adds});
    }
  }
}

void two_shot_step(Rank ranks, std::uint32_t step, std::vector<Send>& sends) {
  for (Rank r = 0; r < ranks; ++r) {
    for (Rank to = 0; to < ranks; ++to) {
      if (to != r) {
        sends.push_back({r, to, step == 0 ? to : r, 1, 1, step == 0});
      }
    }
  }
}

void star_step(Rank workers, Rank servers, std::uint32_t step, std::vector<Send>& sends) {
  for (Rank a = 0; a < (step == 0 ? workers : servers); ++a) {
    for (Rank b = 0; b < (step == 0 ? servers : workers); ++b) {
      if (step == 0) {
        sends.push_back({a, workers + b, b, 1, 1, true});
      } else {
        sends.push_back({workers + a, b, a, 1, 1, false});
      }
    }
  }
}

// A rank at depth d sends segment i up in step deepest - d + i, and gets it down in the mirrored
// one. Trees that are less deep wait at their leaves, and reach the root with the others.
void tree_step(const TreeSteps& trees, std::uint32_t step, std::vector<Send>& sends) {
  const auto count = static_cast<std::uint32_t>(trees.parent.size());
  const auto ranks = static_cast<Rank>(trees.parent.front().size());
  for (Rank r = 0; r < ranks; ++r) {
    for (std::uint32_t t = 0; t < count; ++t) {
      const Rank parent = trees.parent[t][r];
      const std::uint32_t up = trees.deepest - trees.depth[t][r];
      if (parent != r && step >= up && step - up < trees.segments) {
        sends.push_back({r, parent, t * trees.segments + step - up, 1, 1, true});
      }
    }
  }
  for (Rank r = 0; r < ranks; ++r) {
    for (std::uint32_t t = 0; t < count; ++t) {
      const Rank parent = trees.parent[t][r];
      const std::uint32_t down = trees.deepest + trees.depth[t][r] - 1;
      if (parent != r && step >= down && step - down < trees.segments) {
        sends.push_back({parent, r, t * trees.segments + step - down, 1, 1, false});
      }
    }
  }
}

}  // namespace detail

// Rank r of the first tree hangs by the lowest bit of r, so that odd ranks are leaves; the second
// tree is the first one with all ranks moved on by one (an even number) or mirrored.
std::vector<std::vector<Rank>> double_tree(Rank ranks) {
  std::vector<Rank> first(ranks);
  Rank top = std::bit_floor(ranks - 1);
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
