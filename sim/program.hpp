// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "model/units.hpp"
#include "sim/link_graph.hpp"
#include "sim/tree_packing.hpp"

// Collectives as programs of sends. The buffer is cut into chunks; a send moves some of them from
// one rank to another, where they are added to what is there, or stored. A program runs in steps: a
// rank sends those of a step when all that was sent to it in earlier steps has arrived and what it
// sent itself is through, and never waits for anybody else. Sends are made step by step, a whole
// program is never in memory.
//
// Sources: Thakur, Rabenseifner, Gropp (IJHPCA 19(1), 2005) for rings, halving and doubling; Bruck
// et al. (IEEE TPDS 8(11), 1997); Sanders, Speck, Traeff (Parallel Computing 35, 2009) for two
// trees; NVIDIA's descriptions of NVLS, SHARP and PXN, its source for chains inside servers; Wang
// et al. (MLSys 2020) for packed trees.

namespace payoff::sim {

// Chunks first, first + stride, ...; numbers wrap around at the end of the buffer.
struct Send {
  Rank from{};
  Rank to{};
  std::uint32_t first{};
  std::uint32_t count{1};
  std::uint32_t stride{1};
  bool adds{};  // else it is stored
};

enum class Outcome : std::uint8_t {
  all_reduced,     // every rank has the sum of every chunk
  scattered_sums,  // rank r has the sum of the r-th part of the chunks
  gathered,        // every rank has the r-th part of every rank r
  exchanged,       // rank r has chunk (s, r) of every rank s: s * ranks + r
  broadcast,       // every rank has the chunks of rank 0
  reduced,         // rank 0 has the sum of every chunk
  neighbour_sums,  // every rank has the sum of its own and its neighbours' buffers
};

// Of collectives that chunks are followed through; of any other all_reduced.
[[nodiscard]] Outcome outcome_of(Collective collective);

// In which order GPUs of a server are passed: path k begins at GPU k. Empty: k, k + 1, k + 2 ...
// Of rings all paths end at different GPUs, as well. Of two trees the second may have paths of its
// own, after those of the first.
using ServerPaths = std::vector<std::vector<Rank>>;

// Each kind of program is its parameters.
struct RingProgram {
  Rank ranks{};
  Outcome outcome{Outcome::all_reduced};  // or its halves: scattered_sums, gathered
};
// As many rings as a server has GPUs, each with its part of the buffer. Ring k enters every server
// at GPU k and passes the others in turn, so that every NIC has one ring in and one out, as NCCL
// lays out its channels. Chunk r * gpus + k is the part of ring k of what belongs to rank r.
struct RailRingsProgram {
  Rank servers{};
  Rank gpus{};
  Outcome outcome{Outcome::all_reduced};
  ServerPaths inside{};
};
// Rings along the links of a mesh, each with its part of the buffer: chunk r * rings + k is the
// part of ring k of what belongs to rank r.
struct MeshRingsProgram {
  std::vector<std::vector<Rank>> orders;
  Outcome outcome{Outcome::all_reduced};
};
// Along the same rings from rank 0 or to it, in segments that follow one another.
struct ChainsProgram {
  Rank servers{};
  Rank gpus{};
  Outcome outcome{Outcome::broadcast};  // or reduced
  std::uint32_t segments{1};
  ServerPaths inside{};
};
// Along rings of a mesh from rank 0 or to it.
struct MeshChainsProgram {
  std::vector<std::vector<Rank>> orders;
  Outcome outcome{Outcome::broadcast};  // or reduced
  std::uint32_t segments{1};
};
// Sums of halves with the rank at distance n/2, n/4 ...; back by doubling. Ranks: a power of two.
struct HalvingDoublingProgram {
  Rank ranks{};
};
// Reduced up and broadcast down two trees at once, in which no rank is inside of both; each tree
// has half of the buffer, in `segments` that follow one another.
struct DoubleTreeProgram {
  Rank ranks{};
  std::uint32_t segments{1};
};
// As NCCL lays trees out: two for every GPU of a server, which join the GPUs of its number. In a
// server the others hang below it as a chain.
struct RailTreesProgram {
  Rank servers{};
  Rank gpus{};
  std::uint32_t segments{1};
  ServerPaths inside{};
};
// Blocks that double; a reduce-scatter takes the same way backwards.
struct BruckProgram {
  Rank ranks{};
  Outcome outcome{Outcome::gathered};  // or scattered_sums
};
// One partner a step. Of several servers one of another server, all ranks of a server leave it
// together, and beside it those of the own server, spread over the steps. In one server where every
// pair has links of its own, all are one step.
struct PairwiseProgram {
  Rank ranks{};
  Rank gpus{ranks};  // of a server
  bool at_once{};    // inside it, where there is one
  [[nodiscard]] std::uint32_t steps() const {
    return ranks > gpus ? ranks - gpus : at_once ? 1 : gpus - 1;
  }
};
// Rails: to the GPU of the own server with the number of the destination, then along its rail.
struct PxnProgram {
  Rank servers{};
  Rank gpus{};
  bool at_once{};  // inside servers, where every pair has links of its own
  [[nodiscard]] std::uint32_t steps_inside() const { return at_once ? 1 : gpus - 1; }
};
// Reduce-scatter inside servers, rings between ranks of equal number, all-gather inside. In a mesh
// along several rings, each an order of the GPUs and with its part of the buffer.
struct HierarchicalProgram {
  Rank servers{};
  Rank gpus{};
  std::vector<std::vector<Rank>> rings{};  // empty: one, as they come
  [[nodiscard]] std::uint32_t ring_count() const {
    return rings.empty() ? 1 : static_cast<std::uint32_t>(rings.size());
  }
};
// Every rank sums one chunk that all others send it, and sends the sum to all.
struct TwoShotProgram {
  Rank ranks{};
};
// Switches add what they get and multicast the sum, as SHARP does: they are places after the ranks.
struct SwitchProgram {
  Rank ranks{};
  // Trees of ranks, then switches: the parent of each, the root's is itself. Empty: one switch.
  std::vector<std::vector<Rank>> above{};
  std::uint32_t segments{1};
};
// NVLS: the switch of a server adds and multicasts, GPU k has the k-th part of the sums in between
// and joins it over two trees of the GPUs k of all servers. Server s has the switch n + s.
struct NvlsProgram {
  Rank servers{};
  Rank gpus{};
  Outcome outcome{Outcome::all_reduced};  // or its halves, on one server
  std::uint32_t segments{1};
};
// Server i of the first `shards` ranks after the workers sums shard i, or worker i itself does.
struct ParameterServerProgram {
  Rank workers{};
  Rank shards{};
  bool colocated{};
};
struct GossipProgram {
  std::vector<std::vector<Rank>> neighbours;
};
// Rings on rails (RailRingsProgram) that pass on what differs in length: the kept entries of every
// rank. Each ring has its part of what a rank may send at once.
struct SparseGatherProgram {
  std::vector<double> shares;  // of a rank, relative to the size
  Rank gpus{1};                // of a server, where there are several servers
  ServerPaths inside{};
};
// Over trees that share their links, each with the part of the buffer that its rate is of all.
struct TreesProgram {
  TreePacking packing;
  std::uint32_t segments{1};              // of a tree's part, one after the other
  Outcome outcome{Outcome::all_reduced};  // or broadcast, or reduced: one way
};
// The same across servers, in three phases that follow each other: every part of the buffer is
// summed up a tree of every server, the sums are summed and passed back in one hop between the
// roots of these trees, each root summing its part of them, and go down the trees.
struct ServerTreesProgram {
  struct Part {
    std::vector<Rank> parent;  // of every rank; the root of each server's tree is its own
    double share{};            // of the size
  };
  std::vector<Part> parts;    // with a root in every server, each
  std::uint32_t segments{1};  // of a part, one after the other up and down the trees
};

using ProgramKind =
    std::variant<RingProgram, RailRingsProgram, MeshRingsProgram, ChainsProgram, MeshChainsProgram,
                 HalvingDoublingProgram, DoubleTreeProgram, RailTreesProgram, BruckProgram,
                 PairwiseProgram, PxnProgram, HierarchicalProgram, TwoShotProgram, SwitchProgram,
                 NvlsProgram, ParameterServerProgram, GossipProgram, SparseGatherProgram,
                 TreesProgram, ServerTreesProgram>;

// What a program is before its first step.
struct ProgramShape {
  Rank ranks{};
  Rank places{};
  std::uint32_t chunks{};
  std::uint32_t steps{};
  std::uint32_t segments{1};
  std::uint32_t lanes{};       // of a rank, each with its part of what it sends at once; 0: none
  double each{};               // of the size, a chunk
  std::vector<double> shares;  // of the chunks; empty: all alike
  // Of the trees, by place; the root's parent is itself.
  std::vector<std::vector<Rank>> parent;
  std::vector<std::vector<std::uint32_t>> depth;
  std::uint32_t deepest{};
};

class Program {
 public:
  // The parameters have to make sense: two ranks at least, a power of two where it says so.
  explicit Program(ProgramKind kind);

  [[nodiscard]] const ProgramKind& kind() const { return kind_; }
  [[nodiscard]] std::string_view name() const;
  [[nodiscard]] Outcome outcome() const;
  [[nodiscard]] Rank ranks() const { return shape_.ranks; }    // that take part with data
  [[nodiscard]] Rank places() const { return shape_.places; }  // with switches and servers
  [[nodiscard]] std::uint32_t chunks() const { return shape_.chunks; }
  [[nodiscard]] std::uint32_t steps() const { return shape_.steps; }
  // That follow one another over the same links, so that every send takes as long; 1: none do.
  [[nodiscard]] std::uint32_t segments() const { return shape_.segments; }
  // Sends of a rank that are each as fast as its part of the rank's rate, whatever their lengths;
  // 0: sends of a step share the rate by their lengths.
  [[nodiscard]] std::uint32_t lanes() const { return shape_.lanes; }
  // Of the collective's size.
  [[nodiscard]] double share(std::uint32_t chunk) const;
  [[nodiscard]] double share(const Send& send) const;

  // Of all ranks in one step; replaces what is in `sends`.
  void sends(std::uint32_t step, std::vector<Send>& sends) const;
  // Whether the same ranks send each other as much in every step.
  [[nodiscard]] bool has_equal_steps() const;
  // Whether every rank makes one send in every step and gets one, always from the same rank, as in
  // a ring: then each can be had by itself, and no step has to be kept.
  [[nodiscard]] bool has_lone_sends() const { return std::holds_alternative<RingProgram>(kind_); }
  [[nodiscard]] Send lone_send(std::uint32_t step, Rank rank) const;

 private:
  ProgramKind kind_;
  ProgramShape shape_;
};

// The two trees of DoubleTreeProgram: parent of every rank, the root's is itself.
[[nodiscard]] std::vector<std::vector<Rank>> double_tree(Rank ranks);

}  // namespace payoff::sim
