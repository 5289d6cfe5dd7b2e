// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "model/units.hpp"
#include "sim/link_graph.hpp"
#include "sim/tree_packing.hpp"

// Collectives as programs of sends. The buffer is cut into chunks; a send moves some of them from
// one rank to another, where they are added to what is there, or stored. A program runs in steps: a
// rank sends those of a step when all that was sent to it in earlier steps has arrived, and never
// waits for anybody else. Sends are made step by step, a whole program is never in memory.
//
// Sources: Thakur, Rabenseifner, Gropp (IJHPCA 19(1), 2005) for rings, halving and doubling; Bruck
// et al. (IEEE TPDS 8(11), 1997); Sanders, Speck, Traeff (Parallel Computing 35, 2009) for two
// trees; NVIDIA's descriptions of NVLS, SHARP and PXN; Wang et al. (MLSys 2020) for packed trees.

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
  scattered_sums,  // rank r has the sum of chunk r
  gathered,        // every rank has chunk r of every rank r
  exchanged,       // rank r has chunk (s, r) of every rank s: s * ranks + r
  neighbour_sums,  // every rank has the sum of its own and its neighbours' buffers
};

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
struct BruckProgram {
  Rank ranks{};
};
struct PairwiseProgram {
  Rank ranks{};
};
// Rails: to the GPU of the own server with the number of the destination, then along its rail.
struct PxnProgram {
  Rank servers{};
  Rank gpus{};
};
// Reduce-scatter inside servers, rings between ranks of equal number, all-gather inside.
struct HierarchicalProgram {
  Rank servers{};
  Rank gpus{};
};
// Every rank sums one chunk that all others send it, and sends the sum to all.
struct TwoShotProgram {
  Rank ranks{};
};
// The switch adds what all send and multicasts it: it is rank `ranks` of the program.
struct SwitchProgram {
  Rank ranks{};
};
// Server i of the first `shards` ranks after the workers sums shard i.
struct ParameterServerProgram {
  Rank workers{};
  Rank shards{};
};
struct GossipProgram {
  std::vector<std::vector<Rank>> neighbours;
};
// A ring that passes on what differs in length: the kept entries of every rank.
struct SparseGatherProgram {
  std::vector<double> shares;  // of a rank, relative to the size
};
struct TreesProgram {
  TreePacking packing;        // all-reduce over trees, each with the share of its rate
  std::uint32_t segments{1};  // of a tree's share, one after the other
};

using ProgramKind =
    std::variant<RingProgram, RailRingsProgram, HalvingDoublingProgram, DoubleTreeProgram,
                 BruckProgram, PairwiseProgram, PxnProgram, HierarchicalProgram, TwoShotProgram,
                 SwitchProgram, ParameterServerProgram, GossipProgram, SparseGatherProgram,
                 TreesProgram>;

class Program {
 public:
  // The parameters have to make sense: two ranks at least, a power of two where it says so.
  explicit Program(ProgramKind kind);

  [[nodiscard]] std::string_view name() const;
  [[nodiscard]] Outcome outcome() const;
  [[nodiscard]] Rank ranks() const { return ranks_; }    // that take part with data
  [[nodiscard]] Rank places() const { return places_; }  // with switches and servers
  [[nodiscard]] std::uint32_t chunks() const { return chunks_; }
  [[nodiscard]] std::uint32_t steps() const { return steps_; }
  // Of the collective's size.
  [[nodiscard]] double share(std::uint32_t chunk) const;
  [[nodiscard]] double share(const Send& send) const;

  // Of all ranks in one step, by sender; replaces what is in `sends`.
  void sends(std::uint32_t step, std::vector<Send>& sends) const;

 private:
  void measure(const RingProgram& program);
  void measure(const RailRingsProgram& program);
  void measure(const HalvingDoublingProgram& program);
  void measure(const DoubleTreeProgram& program);
  void measure(const BruckProgram& program);
  void measure(const PairwiseProgram& program);
  void measure(const PxnProgram& program);
  void measure(const HierarchicalProgram& program);
  void measure(const TwoShotProgram& program);
  void measure(const SwitchProgram& program);
  void measure(const ParameterServerProgram& program);
  void measure(const GossipProgram& program);
  void measure(const SparseGatherProgram& program);
  void measure(const TreesProgram& program);
  void set(std::size_t ranks, std::uint32_t chunks, std::uint32_t steps, double each);
  void plant(std::vector<std::vector<Rank>> parents, std::uint32_t segments);

  ProgramKind kind_;
  Rank ranks_{};
  Rank places_{};
  std::uint32_t chunks_{};
  std::uint32_t steps_{};
  std::vector<double> shares_;  // of the chunks; empty: all alike
  double each_{};
  std::vector<std::vector<std::uint32_t>> depth_;  // of the trees, by rank
  std::vector<std::vector<Rank>> parent_;
  std::uint32_t deepest_{};
};

// The two trees of DoubleTreeProgram: parent of every rank, the root's is itself.
[[nodiscard]] std::vector<std::vector<Rank>> double_tree(Rank ranks);

}  // namespace payoff::sim
