// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

// The vocabulary of collectives: what is done, by which of NCCL's algorithms and protocols, among
// how many ranks. Sizes follow nccl-tests: all_gather counts the gathered buffer, reduce_scatter
// and all_to_all the whole send buffer of a rank.

namespace payoff {

enum class Collective : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  reduce,
  all_to_all,
  send_recv
};
inline constexpr int collective_count = 7;
[[nodiscard]] constexpr std::size_t index(Collective c) { return static_cast<std::size_t>(c); }

enum class Algorithm : std::uint8_t {
  none,
  ring,
  tree,
  nvls,
  nvls_tree,
  collnet_direct,
  collnet_chain,
  pat,
  pairwise,
  direct
};
inline constexpr int algorithm_count = 10;
[[nodiscard]] constexpr std::size_t index(Algorithm a) { return static_cast<std::size_t>(a); }

enum class Protocol : std::uint8_t { none, ll, ll128, simple };
inline constexpr int protocol_count = 4;
[[nodiscard]] constexpr std::size_t index(Protocol p) { return static_cast<std::size_t>(p); }

// What makes an all-reduce: NCCL's own algorithms, sums in the switches between nodes (NVIDIA's
// SHARP), or Blink's packed trees. Nobody published tables of the other two:
// model/other_all_reduce.
enum class AllReduceBy : std::uint8_t { nccl, sharp, packed_trees };

// Collectives that do the same with a message, so that what one of them tells about a link holds
// for the others of its family: all ranks reduce and gather, or do half of that, or one rank has
// the data, or every two ranks have some of their own.
enum class CollectiveFamily : std::uint8_t { all_reduces, gathers, rooted, exchanges };
inline constexpr std::size_t collective_family_count = 4;
inline constexpr std::array<std::string_view, collective_family_count> collective_family_names{
    "all_reduces", "gathers", "rooted", "exchanges"};

[[nodiscard]] constexpr std::size_t index(CollectiveFamily f) {
  return static_cast<std::size_t>(f);
}

[[nodiscard]] constexpr std::string_view family_name(CollectiveFamily family) {
  return collective_family_names.at(index(family));
}

[[nodiscard]] constexpr CollectiveFamily family_of(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
      return CollectiveFamily::all_reduces;
    case Collective::all_gather:
    case Collective::reduce_scatter:
      return CollectiveFamily::gathers;
    case Collective::broadcast:
    case Collective::reduce:
      return CollectiveFamily::rooted;
    case Collective::all_to_all:
    case Collective::send_recv:
      break;
  }
  return CollectiveFamily::exchanges;
}

// One kernel a rank, which NCCL tunes, not a group of sends and receives.
[[nodiscard]] constexpr bool is_one_kernel(Collective collective) {
  return collective != Collective::all_to_all && collective != Collective::send_recv;
}

[[nodiscard]] std::string_view name(Collective collective);
[[nodiscard]] std::string_view name(Algorithm algorithm);
[[nodiscard]] std::string_view name(Protocol protocol);
[[nodiscard]] std::string_view name(AllReduceBy by);

// Of a group, and of a job: more is not modelled.
inline constexpr int most_ranks = 1 << 20;

// The ranks of one collective, and who else uses the node's NICs at the same time: eight dp groups
// of one GPU per node each (tp 8 inside) share the node's NICs eight ways.
struct Group {
  int ranks{1};
  int ranks_per_node{1};
  int rivals{1};  // groups per node that communicate at once, this one included
  int stride{1};  // in a node, from one of its ranks to the next; it matters where links are uneven
  AllReduceBy all_reduce{AllReduceBy::nccl};

  [[nodiscard]] int nodes() const { return (ranks + ranks_per_node - 1) / ranks_per_node; }
  bool operator==(const Group&) const = default;
};

}  // namespace payoff
