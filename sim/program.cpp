// SPDX-License-Identifier: Apache-2.0
#include "sim/program.hpp"

#include <utility>

#include "sim/program_shape.hpp"
#include "sim/program_steps.hpp"

namespace payoff::sim {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace

Outcome outcome_of(Collective collective) {
  switch (collective) {
    case Collective::all_gather:
      return Outcome::gathered;
    case Collective::reduce_scatter:
      return Outcome::scattered_sums;
    case Collective::broadcast:
      return Outcome::broadcast;
    case Collective::reduce:
      return Outcome::reduced;
    default:
      return Outcome::all_reduced;
  }
}

Program::Program(ProgramKind kind) : kind_(std::move(kind)), shape_(detail::shape_of(kind_)) {}

std::string_view Program::name() const {
  return std::visit(
      Overloaded{[](const RingProgram&) { return "ring"; },
                 [](const RailRingsProgram&) { return "rings on rails"; },
                 [](const MeshRingsProgram&) { return "rings along links"; },
                 [](const ChainsProgram&) { return "chains on rails"; },
                 [](const MeshChainsProgram&) { return "chains along links"; },
                 [](const HalvingDoublingProgram&) { return "halving and doubling"; },
                 [](const DoubleTreeProgram&) { return "double tree"; },
                 [](const RailTreesProgram&) { return "double trees on rails"; },
                 [](const BruckProgram&) { return "Bruck"; },
                 [](const PairwiseProgram&) { return "pairwise"; },
                 [](const PxnProgram&) { return "PXN"; },
                 [](const HierarchicalProgram&) { return "hierarchical"; },
                 [](const TwoShotProgram&) { return "two-shot"; },
                 [](const SwitchProgram&) { return "in the switch"; },
                 [](const NvlsProgram& p) { return p.servers > 1 ? "NVLS and trees" : "NVLS"; },
                 [](const ParameterServerProgram&) { return "parameter server"; },
                 [](const GossipProgram&) { return "gossip"; },
                 [](const SparseGatherProgram&) { return "sparse all-gather"; },
                 [](const TreesProgram&) { return "packed trees"; },
                 [](const ServerTreesProgram&) { return "packed trees in three phases"; }},
      kind_);
}

Outcome Program::outcome() const {
  return std::visit(Overloaded{[](const RingProgram& p) { return p.outcome; },
                               [](const RailRingsProgram& p) { return p.outcome; },
                               [](const MeshRingsProgram& p) { return p.outcome; },
                               [](const ChainsProgram& p) { return p.outcome; },
                               [](const MeshChainsProgram& p) { return p.outcome; },
                               [](const BruckProgram& p) { return p.outcome; },
                               [](const NvlsProgram& p) { return p.outcome; },
                               [](const TreesProgram& p) { return p.outcome; },
                               [](const PairwiseProgram&) { return Outcome::exchanged; },
                               [](const PxnProgram&) { return Outcome::exchanged; },
                               [](const SparseGatherProgram&) { return Outcome::gathered; },
                               [](const GossipProgram&) { return Outcome::neighbour_sums; },
                               [](const auto&) { return Outcome::all_reduced; }},
                    kind_);
}

bool Program::has_equal_steps() const {
  return std::holds_alternative<RingProgram>(kind_) ||
         std::holds_alternative<RailRingsProgram>(kind_) ||
         std::holds_alternative<MeshRingsProgram>(kind_);
}

double Program::share(std::uint32_t chunk) const {
  return shape_.shares.empty() ? shape_.each : shape_.shares[chunk];
}

double Program::share(const Send& send) const {
  if (shape_.shares.empty()) {
    return shape_.each * send.count;
  }
  double together = 0;
  for (std::uint32_t i = 0; i < send.count; ++i) {
    together += shape_.shares[(send.first + i * send.stride) % shape_.chunks];
  }
  return together;
}

Send Program::lone_send(std::uint32_t step, Rank rank) const {
  const auto& ring = std::get<RingProgram>(kind_);
  return detail::ring_send(ring.ranks, ring.outcome, step, rank);
}

void Program::sends(std::uint32_t step, std::vector<Send>& sends) const {
  sends.clear();
  using namespace detail;
  const auto both_ways = [&](const auto&) { tree_step(shape_, {true, true}, step, sends); };
  const auto ways_of = [&](const auto& p) {
    tree_step(shape_, {p.outcome != Outcome::broadcast, p.outcome != Outcome::reduced}, step,
              sends);
  };
  std::visit(
      Overloaded{
          [&](const RingProgram& p) { ring_step(p.ranks, p.outcome, step, sends); },
          [&](const RailRingsProgram& p) {
            rail_rings_step(p.servers, p.gpus, p.inside, p.outcome, step, sends);
          },
          [&](const MeshRingsProgram& p) { mesh_rings_step(p.orders, p.outcome, step, sends); },
          [&](const ChainsProgram& p) { ways_of(p); },
          [&](const MeshChainsProgram& p) { ways_of(p); },
          [&](const HalvingDoublingProgram& p) { halving_step(p.ranks, step, sends); },
          [&](const BruckProgram& p) { bruck_step(p.ranks, p.outcome, step, sends); },
          [&](const PairwiseProgram& p) { pairwise_step(p, step, sends); },
          [&](const PxnProgram& p) { pxn_step(p, step, sends); },
          [&](const HierarchicalProgram& p) { hierarchical_step(p, step, sends); },
          [&](const TwoShotProgram& p) { two_shot_step(p.ranks, step, sends); },
          [&](const NvlsProgram& p) { nvls_step(p, shape_, step, sends); },
          [&](const ParameterServerProgram& p) { star_step(p, step, sends); },
          [&](const GossipProgram& p) { gossip_step(p.neighbours, sends); },
          [&](const SparseGatherProgram& p) {
            rail_rings_step(static_cast<Rank>(p.shares.size()) / p.gpus, p.gpus, p.inside,
                            Outcome::gathered, step, sends);
          },
          [&](const DoubleTreeProgram& p) { both_ways(p); },
          [&](const RailTreesProgram& p) { both_ways(p); },
          [&](const SwitchProgram& p) { both_ways(p); },
          [&](const TreesProgram& p) { ways_of(p); },
          [&](const ServerTreesProgram&) { server_trees_step(shape_, step, sends); }},
      kind_);
}

}  // namespace payoff::sim
