// SPDX-License-Identifier: Apache-2.0
#pragma once

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

enum class Protocol : std::uint8_t { none, ll, ll128, simple };
inline constexpr int protocol_count = 4;

// One kernel a rank, not a group of sends and receives.
[[nodiscard]] constexpr bool is_one_kernel(Collective collective) {
  return collective != Collective::all_to_all && collective != Collective::send_recv;
}

[[nodiscard]] std::string_view name(Collective collective);
[[nodiscard]] std::string_view name(Algorithm algorithm);
[[nodiscard]] std::string_view name(Protocol protocol);

// The ranks of one collective, and who else uses the node's NICs at the same time: eight dp groups
// of one GPU per node each (tp 8 inside) share the node's NICs eight ways.
struct Group {
  int ranks{1};
  int ranks_per_node{1};
  int rivals{1};  // groups per node that communicate at once, this one included

  [[nodiscard]] int nodes() const { return (ranks + ranks_per_node - 1) / ranks_per_node; }
  bool operator==(const Group&) const = default;
};

}  // namespace payoff
