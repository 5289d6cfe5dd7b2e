// SPDX-License-Identifier: Apache-2.0
#include "sim/program_shape.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "sim/invariant.hpp"

namespace payoff::sim {
namespace {

ProgramShape shape(std::size_t ranks, std::uint32_t chunks, std::uint32_t steps, double each) {
  ProgramShape shape;
  shape.ranks = shape.places = static_cast<Rank>(ranks);
  shape.chunks = chunks;
  shape.steps = steps;
  shape.each = each;
  return shape;
}

void plant(ProgramShape& shape, std::vector<std::vector<Rank>> parents) {
  shape.parent = std::move(parents);
  for (const std::vector<Rank>& parent : shape.parent) {
    shape.depth.push_back(detail::depths(parent));
    shape.deepest = std::max(
        shape.deepest, *std::max_element(shape.depth.back().begin(), shape.depth.back().end()));
  }
}

// Trees that are passed `ways` times, up and down: each has its part of the buffer in segments.
ProgramShape of_trees(std::vector<std::vector<Rank>> parents, std::uint32_t segments,
                      std::uint32_t ways = 2) {
  const auto trees = static_cast<std::uint32_t>(parents.size());
  ProgramShape result =
      shape(parents.front().size(), trees * segments, 0, 1.0 / (trees * segments));
  plant(result, std::move(parents));
  result.segments = segments;
  result.steps = ways * result.deepest + segments - 1;
  return result;
}

using detail::in_rail_ring;
using detail::on_path;
using detail::passes;

ProgramShape shape_of(const RingProgram& p) {
  return shape(p.ranks, p.ranks, passes(p.outcome) * (p.ranks - 1), 1.0 / p.ranks);
}

ProgramShape shape_of(const RailRingsProgram& p) {
  const Rank n = p.servers * p.gpus;
  const std::uint32_t chunks = n * p.gpus;
  return shape(n, chunks, passes(p.outcome) * (n - 1), 1.0 / chunks);
}

ProgramShape shape_of(const MeshRingsProgram& p) {
  const auto n = static_cast<Rank>(p.orders.front().size());
  const auto chunks = static_cast<std::uint32_t>(n * p.orders.size());
  return shape(n, chunks, passes(p.outcome) * (n - 1), 1.0 / chunks);
}

// A chain is a tree without branches: a ring from the place of rank 0 on.
std::vector<Rank> chain_of(std::vector<Rank> ring) {
  std::rotate(ring.begin(), std::find(ring.begin(), ring.end(), Rank{0}), ring.end());
  std::vector<Rank> parent(ring.size());
  for (std::size_t i = 1; i < ring.size(); ++i) {
    parent[ring[i]] = ring[i - 1];
  }
  return parent;
}

ProgramShape shape_of(const ChainsProgram& p) {
  const Rank n = p.servers * p.gpus;
  std::vector<std::vector<Rank>> parents;
  for (Rank k = 0; k < p.gpus; ++k) {
    std::vector<Rank> ring;
    for (Rank place = 0; place < n; ++place) {
      ring.push_back(in_rail_ring(place, p.gpus, k, p.inside));
    }
    parents.push_back(chain_of(std::move(ring)));
  }
  return of_trees(std::move(parents), p.segments, 1);
}

ProgramShape shape_of(const MeshChainsProgram& p) {
  std::vector<std::vector<Rank>> parents;
  parents.reserve(p.orders.size());
  for (const std::vector<Rank>& order : p.orders) {
    parents.push_back(chain_of(order));
  }
  return of_trees(std::move(parents), p.segments, 1);
}

ProgramShape shape_of(const HalvingDoublingProgram& p) {
  PAYOFF_INVARIANT(std::has_single_bit(p.ranks), "halving needs a power of two of ranks");
  return shape(p.ranks, p.ranks, 2 * static_cast<std::uint32_t>(std::countr_zero(p.ranks)),
               1.0 / p.ranks);
}

ProgramShape shape_of(const DoubleTreeProgram& p) {
  return of_trees(double_tree(p.ranks), p.segments);
}

ProgramShape shape_of(const RailTreesProgram& p) {
  std::vector<std::vector<Rank>> parents;
  const std::vector<std::vector<Rank>> trees = double_tree(p.servers);
  for (Rank k = 0; k < p.gpus; ++k) {
    for (Rank t = 0; t < trees.size(); ++t) {
      const Rank path = p.inside.size() > p.gpus ? t * p.gpus + k : k;
      std::vector<Rank> parent(std::size_t{p.servers} * p.gpus);
      for (Rank s = 0; s < p.servers; ++s) {
        const auto at = [&](Rank i) { return s * p.gpus + on_path(p.inside, p.gpus, path, i); };
        parent[at(0)] = trees[t][s] * p.gpus + k;
        for (Rank i = 1; i < p.gpus; ++i) {
          parent[at(i)] = at(i - 1);
        }
      }
      parents.push_back(std::move(parent));
    }
  }
  return of_trees(std::move(parents), p.segments);
}

ProgramShape shape_of(const BruckProgram& p) {
  return shape(p.ranks, p.ranks, static_cast<std::uint32_t>(std::bit_width(p.ranks - 1)),
               1.0 / p.ranks);
}

ProgramShape shape_of(const PairwiseProgram& p) {
  ProgramShape result = shape(p.ranks, p.ranks * p.ranks, p.steps(), 1.0 / p.ranks);
  // Between servers every send is as fast as the price has it, whatever goes on inside.
  result.lanes = p.ranks > p.gpus ? 1 : 0;
  return result;
}

ProgramShape shape_of(const PxnProgram& p) {
  const Rank n = p.servers * p.gpus;
  return shape(n, n * n, p.steps_inside() + p.servers - 1, 1.0 / n);
}

ProgramShape shape_of(const HierarchicalProgram& p) {
  const Rank n = p.servers * p.gpus;
  const std::uint32_t chunks = n * p.ring_count();
  return shape(n, chunks, 2 * (p.gpus - 1) + 2 * (p.servers - 1), 1.0 / chunks);
}

ProgramShape shape_of(const TwoShotProgram& p) { return shape(p.ranks, p.ranks, 2, 1.0 / p.ranks); }

ProgramShape shape_of(const SwitchProgram& p) {
  ProgramShape result = p.above.empty()
                            ? of_trees({std::vector<Rank>(p.ranks + 1, p.ranks)}, p.segments)
                            : of_trees(p.above, p.segments);
  result.ranks = p.ranks;
  return result;
}

ProgramShape shape_of(const NvlsProgram& p) {
  PAYOFF_INVARIANT(p.servers == 1 || p.outcome == Outcome::all_reduced,
                   "NVLS joins servers to all-reduce only");
  const Rank n = p.servers * p.gpus;
  const std::uint32_t trees = p.servers > 1 ? 2 : 1;
  const std::uint32_t chunks = p.gpus * trees * p.segments;
  ProgramShape result = shape(n, chunks, 0, 1.0 / chunks);
  result.places = n + p.servers;
  result.segments = p.segments;
  plant(result, double_tree(p.servers));
  result.steps = 2 * passes(p.outcome) + 2 * result.deepest + p.segments - 1;
  return result;
}

ProgramShape shape_of(const ParameterServerProgram& p) {
  PAYOFF_INVARIANT(!p.colocated || p.shards <= p.workers, "more servers than ranks to be on");
  ProgramShape result = shape(p.workers, p.shards, 2, 1.0 / p.shards);
  result.places = p.colocated ? p.workers : p.workers + p.shards;
  return result;
}

ProgramShape shape_of(const GossipProgram& p) { return shape(p.neighbours.size(), 1, 1, 1.0); }

ProgramShape shape_of(const SparseGatherProgram& p) {
  const auto n = static_cast<std::uint32_t>(p.shares.size());
  ProgramShape result = shape(n, n * p.gpus, n - 1, 0);
  for (const double share : p.shares) {
    result.shares.insert(result.shares.end(), p.gpus, share / p.gpus);
  }
  result.lanes = p.gpus;
  return result;
}

ProgramShape shape_of(const TreesProgram& p) {
  std::vector<std::vector<Rank>> parents;
  std::vector<double> shares;
  for (const PackedTree& tree : p.packing.trees) {
    parents.push_back(tree.parent);
    shares.insert(shares.end(), p.segments, tree.rate / p.packing.rate / p.segments);
  }
  ProgramShape result = of_trees(std::move(parents), p.segments, passes(p.outcome));
  result.shares = std::move(shares);
  return result;
}

// Chunk (part * segments + i) * servers + s: what the root in server s sums of segment i of a part.
ProgramShape shape_of(const ServerTreesProgram& p) {
  const std::vector<Rank>& first = p.parts.front().parent;
  std::uint32_t servers = 0;
  for (Rank r = 0; r < first.size(); ++r) {
    servers += first[r] == r ? 1U : 0U;
  }
  const auto parts = static_cast<std::uint32_t>(p.parts.size());
  ProgramShape result = shape(first.size(), parts * p.segments * servers, 0, 0);
  std::vector<std::vector<Rank>> parents;
  for (const ServerTreesProgram::Part& part : p.parts) {
    parents.push_back(part.parent);
    const std::uint32_t chunks = p.segments * servers;
    result.shares.insert(result.shares.end(), chunks, part.share / chunks);
  }
  plant(result, std::move(parents));
  result.segments = p.segments;
  result.steps = 2 * (result.deepest + p.segments - 1) + 2;
  return result;
}

}  // namespace

std::vector<std::uint32_t> detail::depths(const std::vector<Rank>& parent) {
  std::vector<std::uint32_t> result;
  for (Rank r = 0; r < parent.size(); ++r) {
    std::uint32_t depth = 0;
    for (Rank at = r; parent[at] != at; at = parent[at]) {
      ++depth;
    }
    result.push_back(depth);
  }
  return result;
}

ProgramShape detail::shape_of(const ProgramKind& kind) {
  return std::visit([](const auto& program) { return sim::shape_of(program); }, kind);
}

}  // namespace payoff::sim
