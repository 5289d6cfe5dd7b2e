// SPDX-License-Identifier: Apache-2.0
#include "sim/program_steps.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/program_shape.hpp"

namespace payoff::sim::detail {

// Chunk r ends as the sum at rank r, and starts the gathering there.
Send ring_send(Rank ranks, Outcome outcome, std::uint32_t step, Rank rank) {
  const bool adds = outcome != Outcome::gathered && step < ranks - 1;
  // No remainders: this is asked for every send.
  const std::uint32_t late = adds ? step + 1 : step < ranks - 1 ? step : step - (ranks - 1);
  const std::uint32_t chunk = rank >= late ? rank - late : rank + ranks - late;
  return {rank, rank + 1 == ranks ? 0 : rank + 1, chunk, 1, 1, adds};
}

void ring_step(Rank ranks, Outcome outcome, std::uint32_t step, std::vector<Send>& sends) {
  for (Rank r = 0; r < ranks; ++r) {
    sends.push_back(ring_send(ranks, outcome, step, r));
  }
}

void rail_rings_step(Rank servers, Rank gpus, const ServerPaths& inside, Outcome outcome,
                     std::uint32_t step, std::vector<Send>& sends) {
  std::vector<Send> ring;
  ring_step(servers * gpus, outcome, step, ring);
  for (Rank k = 0; k < gpus; ++k) {
    const auto at = [&](Rank place) { return in_rail_ring(place, gpus, k, inside); };
    for (const Send& send : ring) {
      sends.push_back({at(send.from), at(send.to), at(send.first) * gpus + k, 1, 1, send.adds});
    }
  }
}

// A GPU at place p of an order has the chunks of its own number, not of its place.
void mesh_rings_step(const std::vector<std::vector<Rank>>& orders, Outcome outcome,
                     std::uint32_t step, std::vector<Send>& sends) {
  const auto rings = static_cast<std::uint32_t>(orders.size());
  std::vector<Send> ring;
  ring_step(static_cast<Rank>(orders.front().size()), outcome, step, ring);
  for (std::uint32_t k = 0; k < rings; ++k) {
    for (const Send& send : ring) {
      sends.push_back({orders[k][send.from], orders[k][send.to], orders[k][send.first] * rings + k,
                       1, 1, send.adds});
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

// Backwards, chunks come together where they were spread from: steps and ends change places.
void bruck_step(Rank ranks, Outcome outcome, std::uint32_t step, std::vector<Send>& sends) {
  const auto steps = static_cast<std::uint32_t>(std::bit_width(ranks - 1));
  const bool adds = outcome == Outcome::scattered_sums;
  const std::uint32_t have = std::uint32_t{1} << (adds ? steps - 1 - step : step);
  for (Rank r = 0; r < ranks; ++r) {
    const Rank other = (r + ranks - have % ranks) % ranks;
    const std::uint32_t count = std::min(have, ranks - have);
    sends.push_back({adds ? other : r, adds ? r : other, r, count, 1, adds});
  }
}

void pairwise_step(const PairwiseProgram& pairs, std::uint32_t step, std::vector<Send>& sends) {
  const auto& [ranks, gpus, at_once] = pairs;
  const std::uint32_t between = ranks - gpus;
  std::vector<std::uint32_t> partners;  // so far on, in servers and, inside, in GPUs
  if (between > 0) {
    partners.push_back(gpus + step);
  }
  for (std::uint32_t away = 1; away < gpus; ++away) {
    const std::uint64_t apart = std::uint64_t{away - 1} * between / (gpus - 1);
    if (between > 0 ? apart == step : at_once || away == step + 1) {
      partners.push_back(away);
    }
  }
  for (Rank r = 0; r < ranks; ++r) {
    for (const std::uint32_t away : partners) {
      const Rank server = (r / gpus + away / gpus) % (ranks / gpus);
      const Rank to = server * gpus + (r % gpus + away % gpus) % gpus;
      sends.push_back({r, to, r * ranks + to, 1, 1, false});
    }
  }
}

// Inside a server, GPU b collects what its server has for the GPUs b of all servers: chunks of one
// sender, `gpus` apart. Between servers it passes on what is for one of them: chunks `n` apart.
void pxn_step(const PxnProgram& pxn, std::uint32_t step, std::vector<Send>& sends) {
  const auto& [servers, gpus, at_once] = pxn;
  const Rank n = servers * gpus;
  const std::uint32_t inside = pxn.steps_inside();
  for (Rank r = 0; r < n; ++r) {
    const Rank server = r / gpus;
    if (step < inside) {
      const std::uint32_t last = at_once ? gpus - 1 : step + 1;
      for (std::uint32_t away = step + 1; away <= last; ++away) {
        const Rank rail = (r % gpus + away) % gpus;
        sends.push_back({r, server * gpus + rail, r * n + rail, servers, gpus, false});
      }
    } else {
      const Rank to = (server + step - inside + 1) % servers * gpus + r % gpus;
      sends.push_back({r, to, server * gpus * n + to, gpus, n, false});
    }
  }
}

// Chunk (a * servers + s) * rings + k, the part of ring k, ends as the sum at GPU a of server s.
void hierarchical_step(const HierarchicalProgram& program, std::uint32_t step,
                       std::vector<Send>& sends) {
  const auto [servers, gpus] = std::pair(program.servers, program.gpus);
  const std::uint32_t rings = program.ring_count();
  const std::uint32_t inside = gpus - 1;
  const std::uint32_t between = 2 * (servers - 1);
  std::vector<Send> ring;
  if (step < inside || step >= inside + between) {
    const bool adds = step < inside;
    ring_step(gpus, adds ? Outcome::scattered_sums : Outcome::gathered,
              adds ? step : step - inside - between, ring);
    for (Rank s = 0; s < servers; ++s) {
      for (std::uint32_t k = 0; k < rings; ++k) {
        const auto at = [&](Rank place) {
          return program.rings.empty() ? place : program.rings[k][place];
        };
        for (const Send& send : ring) {
          sends.push_back({s * gpus + at(send.from), s * gpus + at(send.to),
                           at(send.first) * servers * rings + k, servers, rings, send.adds});
        }
      }
    }
    return;
  }
  ring_step(servers, Outcome::all_reduced, step - inside, ring);
  for (const Send& send : ring) {
    for (Rank a = 0; a < gpus; ++a) {
      sends.push_back({send.from * gpus + a, send.to * gpus + a, (a * servers + send.first) * rings,
                       rings, 1, send.adds});
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

// Up to the servers, who add, and back; what is at its server already is not sent.
void star_step(const ParameterServerProgram& star, std::uint32_t step, std::vector<Send>& sends) {
  for (Rank shard = 0; shard < star.shards; ++shard) {
    const Rank server = star.colocated ? shard : star.workers + shard;
    for (Rank worker = 0; worker < star.workers; ++worker) {
      if (worker != server) {
        const bool up = step == 0;
        sends.push_back({up ? worker : server, up ? server : worker, shard, 1, 1, up});
      }
    }
  }
}

void gossip_step(const std::vector<std::vector<Rank>>& neighbours, std::vector<Send>& sends) {
  for (Rank r = 0; r < neighbours.size(); ++r) {
    for (const Rank to : neighbours[r]) {
      sends.push_back({r, to, 0, 1, 1, true});
    }
  }
}

}  // namespace payoff::sim::detail
