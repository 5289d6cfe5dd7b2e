// SPDX-License-Identifier: Apache-2.0
#include "sim/program.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "sim/invariant.hpp"
#include "sim/program_steps.hpp"

namespace payoff::sim {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

std::vector<std::uint32_t> depths(const std::vector<Rank>& parent) {
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

}  // namespace

Program::Program(ProgramKind kind) : kind_(std::move(kind)) {
  std::visit([this](const auto& program) { measure(program); }, kind_);
}

std::string_view Program::name() const {
  return std::visit(Overloaded{[](const RingProgram&) { return "ring"; },
                               [](const RailRingsProgram&) { return "rings on rails"; },
                               [](const HalvingDoublingProgram&) { return "halving and doubling"; },
                               [](const DoubleTreeProgram&) { return "double tree"; },
                               [](const BruckProgram&) { return "Bruck"; },
                               [](const PairwiseProgram&) { return "pairwise"; },
                               [](const PxnProgram&) { return "PXN"; },
                               [](const HierarchicalProgram&) { return "hierarchical"; },
                               [](const TwoShotProgram&) { return "two-shot"; },
                               [](const SwitchProgram&) { return "in the switch"; },
                               [](const ParameterServerProgram&) { return "parameter server"; },
                               [](const GossipProgram&) { return "gossip"; },
                               [](const SparseGatherProgram&) { return "sparse all-gather"; },
                               [](const TreesProgram&) { return "packed trees"; }},
                    kind_);
}

Outcome Program::outcome() const {
  if (const auto* ring = std::get_if<RingProgram>(&kind_)) {
    return ring->outcome;
  }
  if (const auto* rings = std::get_if<RailRingsProgram>(&kind_)) {
    return rings->outcome;
  }
  if (std::holds_alternative<BruckProgram>(kind_) ||
      std::holds_alternative<SparseGatherProgram>(kind_)) {
    return Outcome::gathered;
  }
  if (std::holds_alternative<PairwiseProgram>(kind_) || std::holds_alternative<PxnProgram>(kind_)) {
    return Outcome::exchanged;
  }
  return std::holds_alternative<GossipProgram>(kind_) ? Outcome::neighbour_sums
                                                      : Outcome::all_reduced;
}

void Program::set(std::size_t ranks, std::uint32_t chunks, std::uint32_t steps, double each) {
  ranks_ = places_ = static_cast<Rank>(ranks);
  chunks_ = chunks;
  steps_ = steps;
  each_ = each;
}

void Program::plant(std::vector<std::vector<Rank>> parents, std::uint32_t segments) {
  parent_ = std::move(parents);
  for (const std::vector<Rank>& parent : parent_) {
    depth_.push_back(depths(parent));
    deepest_ = std::max(deepest_, *std::max_element(depth_.back().begin(), depth_.back().end()));
  }
  const auto trees = static_cast<std::uint32_t>(parent_.size());
  set(parent_.front().size(), trees * segments, 2 * deepest_ + segments - 1,
      1.0 / (trees * segments));
}

void Program::measure(const RingProgram& program) {
  const Rank n = program.ranks;
  set(n, n, (program.outcome == Outcome::all_reduced ? 2 : 1) * (n - 1), 1.0 / n);
}

void Program::measure(const RailRingsProgram& program) {
  const Rank n = program.servers * program.gpus;
  const std::uint32_t chunks = n * program.gpus;
  set(n, chunks, (program.outcome == Outcome::all_reduced ? 2 : 1) * (n - 1), 1.0 / chunks);
}

void Program::measure(const HalvingDoublingProgram& program) {
  const Rank n = program.ranks;
  PAYOFF_INVARIANT(std::has_single_bit(n), "halving needs a power of two of ranks");
  set(n, n, 2 * static_cast<std::uint32_t>(std::countr_zero(n)), 1.0 / n);
}

void Program::measure(const DoubleTreeProgram& program) {
  plant(double_tree(program.ranks), program.segments);
}

void Program::measure(const BruckProgram& program) {
  const Rank n = program.ranks;
  set(n, n, static_cast<std::uint32_t>(std::bit_width(n - 1)), 1.0 / n);
}

void Program::measure(const PairwiseProgram& program) {
  const Rank n = program.ranks;
  set(n, n * n, n - 1, 1.0 / n);
}

void Program::measure(const PxnProgram& program) {
  const Rank n = program.servers * program.gpus;
  set(n, n * n, program.gpus - 1 + program.servers - 1, 1.0 / n);
}

void Program::measure(const HierarchicalProgram& program) {
  const Rank n = program.servers * program.gpus;
  set(n, n, 2 * (program.gpus - 1) + 2 * (program.servers - 1), 1.0 / n);
}

void Program::measure(const TwoShotProgram& program) {
  set(program.ranks, program.ranks, 2, 1.0 / program.ranks);
}

void Program::measure(const SwitchProgram& program) {
  set(program.ranks, 1, 2, 1.0);
  places_ = program.ranks + 1;
}

void Program::measure(const ParameterServerProgram& program) {
  set(program.workers, program.shards, 2, 1.0 / program.shards);
  places_ = program.workers + program.shards;
}

void Program::measure(const GossipProgram& program) { set(program.neighbours.size(), 1, 1, 1.0); }

void Program::measure(const SparseGatherProgram& program) {
  const auto n = static_cast<std::uint32_t>(program.shares.size());
  set(n, n, n - 1, 0);
  shares_ = program.shares;
}

void Program::measure(const TreesProgram& program) {
  std::vector<std::vector<Rank>> parents;
  for (const PackedTree& tree : program.packing.trees) {
    parents.push_back(tree.parent);
    shares_.insert(shares_.end(), program.segments,
                   tree.rate / program.packing.rate / program.segments);
  }
  plant(std::move(parents), program.segments);
}

double Program::share(std::uint32_t chunk) const {
  return shares_.empty() ? each_ : shares_[chunk];
}

double Program::share(const Send& send) const {
  if (shares_.empty()) {
    return each_ * send.count;
  }
  double together = 0;
  for (std::uint32_t i = 0; i < send.count; ++i) {
    together += shares_[(send.first + i * send.stride) % chunks_];
  }
  return together;
}

void Program::sends(std::uint32_t step, std::vector<Send>& sends) const {
  sends.clear();
  using namespace detail;
  std::visit(
      Overloaded{
          [&](const RingProgram& p) { ring_step(p.ranks, p.outcome, step, sends); },
          [&](const RailRingsProgram& p) {
            rail_rings_step(p.servers, p.gpus, p.outcome, step, sends);
          },
          [&](const HalvingDoublingProgram& p) { halving_step(p.ranks, step, sends); },
          [&](const DoubleTreeProgram& p) {
            tree_step({parent_, depth_, deepest_, p.segments}, step, sends);
          },
          [&](const BruckProgram& p) { bruck_step(p.ranks, step, sends); },
          [&](const PairwiseProgram& p) { pairwise_step(p.ranks, step, sends); },
          [&](const PxnProgram& p) { pxn_step(p.servers, p.gpus, step, sends); },
          [&](const HierarchicalProgram& p) { hierarchical_step(p.servers, p.gpus, step, sends); },
          [&](const TwoShotProgram& p) { two_shot_step(p.ranks, step, sends); },
          [&](const SwitchProgram& p) { star_step(p.ranks, 1, step, sends); },
          [&](const ParameterServerProgram& p) { star_step(p.workers, p.shards, step, sends); },
          [&](const GossipProgram& p) {
            for (Rank r = 0; r < p.neighbours.size(); ++r) {
              for (const Rank to : p.neighbours[r]) {
                sends.push_back({r, to, 0, 1, 1, true});
              }
            }
          },
          [&](const SparseGatherProgram& p) {
            ring_step(static_cast<Rank>(p.shares.size()), Outcome::gathered, step, sends);
          },
          [&](const TreesProgram& p) {
            tree_step({parent_, depth_, deepest_, p.segments}, step, sends);
          }},
      kind_);
}

}  // namespace payoff::sim
