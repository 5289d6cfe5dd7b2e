// SPDX-License-Identifier: Apache-2.0
#include "model/collective_terms.hpp"

#include <algorithm>

#include "model/powers_of_two.hpp"

namespace payoff {
namespace {

// LL sends 4 bytes of flag with 4 bytes of data, LL128 8 bytes with 120.
double protocol_overhead(Protocol protocol) {
  switch (protocol) {
    case Protocol::ll:
      return 2.0;
    case Protocol::ll128:
      return 128.0 / 120.0;
    default:
      return 1.0;
  }
}

// What the busiest node of the double binary tree receives: with four nodes or more it is an inner
// node of one tree (half the data from two children and from its parent) and a leaf of the other.
double tree_load(int domains) {
  if (domains <= 2) {
    return domains - 1.0;
  }
  return domains == 3 ? 1.5 : 2.0;
}

bool reduces_and_gathers(Collective collective) { return collective == Collective::all_reduce; }

bool scatters(Collective collective) { return family_of(collective) == CollectiveFamily::gathers; }

std::optional<CollectiveTerms> ring(Collective collective, const GroupPaths& paths) {
  const double n = paths.ranks;
  const double passes = reduces_and_gathers(collective) ? 2.0 : 1.0;
  const bool pieces = reduces_and_gathers(collective) || scatters(collective);
  if (!pieces && collective != Collective::broadcast && collective != Collective::reduce) {
    return std::nullopt;
  }
  CollectiveTerms terms;
  if (pieces) {
    terms.steps_between = passes * (paths.domains - 1);
    terms.steps_inside = passes * (n - 1) - terms.steps_between;
  } else {
    terms.steps_between = paths.domains > 1 ? 1.0 : 0.0;
    terms.steps_inside = 1.0 - terms.steps_between;
  }
  const double bytes = pieces ? passes * (n - 1) / n : 1.0;
  terms.bytes_inside = paths.local > 1 ? bytes : 0.0;
  terms.bytes_between = paths.domains > 1 ? bytes : 0.0;
  terms.share_of_message = pieces ? 1 / n : 1.0;
  return terms;
}

std::optional<CollectiveTerms> tree(Collective collective, const GroupPaths& paths) {
  if (!reduces_and_gathers(collective)) {
    return std::nullopt;
  }
  CollectiveTerms terms;
  terms.steps_inside = 2.0 * (paths.local - 1);
  terms.steps_between = 2.0 * log2_ceiling(paths.domains);
  // The middle of a chain receives the data twice, on the way up and on the way down.
  terms.bytes_inside = std::min(2.0, paths.local - 1.0);
  terms.bytes_between = tree_load(paths.domains);
  return terms;
}

std::optional<CollectiveTerms> in_switch(Collective collective, Algorithm algorithm,
                                         const GroupPaths& paths) {
  const bool between = algorithm == Algorithm::nvls_tree;
  if (paths.local < 2 || between != (paths.domains > 1) ||
      (!reduces_and_gathers(collective) && (between || !scatters(collective)))) {
    return std::nullopt;
  }
  CollectiveTerms terms;
  terms.steps_inside = 1.0;
  terms.steps_between = 2.0 * log2_ceiling(paths.domains);
  terms.bytes_inside = reduces_and_gathers(collective) ? (paths.local + 1.0) / paths.local : 1.0;
  terms.bytes_between = tree_load(paths.domains);
  return terms;
}

std::optional<CollectiveTerms> pat(Collective collective, const GroupPaths& paths) {
  if (!scatters(collective) || paths.local > 1) {
    return std::nullopt;
  }
  CollectiveTerms terms;
  terms.steps_between = log2_ceiling(paths.domains);
  terms.bytes_between = (paths.ranks - 1.0) / paths.ranks;
  return terms;
}

// Every rank sends a share to every other one; the shares of a domain leave through its NICs. No
// message to another domain waits for one that arrives, but they are posted one after another.
CollectiveTerms pairwise(const GroupPaths& paths) {
  const double n = paths.ranks;
  const double local = paths.local;
  CollectiveTerms terms;
  terms.steps_inside = local - 1;
  terms.steps_between = n > local ? 1 : 0;
  terms.posts_between = std::max(n - local - 1, 0.0);
  terms.bytes_inside = (local - 1) / n;
  terms.bytes_between = local * (n - local) / n;
  terms.share_of_message = 1 / n;
  return terms;
}

// As nccl-tests do it: to the next rank, from the previous one.
CollectiveTerms direct(const GroupPaths& paths) {
  CollectiveTerms terms;
  const bool between = paths.domains > 1;
  terms.steps_inside = between ? 0.0 : 1.0;
  terms.steps_between = between ? 1.0 : 0.0;
  terms.bytes_inside = paths.local > 1 ? 1.0 : 0.0;
  terms.bytes_between = between ? 1.0 : 0.0;
  terms.one_flow = true;
  return terms;
}

std::optional<CollectiveTerms> plain_terms(Collective collective, Algorithm algorithm,
                                           const GroupPaths& paths) {
  switch (algorithm) {
    case Algorithm::ring:
      return ring(collective, paths);
    case Algorithm::tree:
      return tree(collective, paths);
    case Algorithm::nvls:
    case Algorithm::nvls_tree:
      return in_switch(collective, algorithm, paths);
    case Algorithm::pat:
      return pat(collective, paths);
    case Algorithm::pairwise:
      return collective == Collective::all_to_all ? std::optional(pairwise(paths)) : std::nullopt;
    case Algorithm::direct:
      return collective == Collective::send_recv ? std::optional(direct(paths)) : std::nullopt;
    case Algorithm::none:
    case Algorithm::collnet_direct:
    case Algorithm::collnet_chain:
      break;
  }
  return std::nullopt;
}

bool has_protocol(Algorithm algorithm, Protocol protocol) {
  switch (algorithm) {
    case Algorithm::ring:
    case Algorithm::tree:
      return protocol != Protocol::none;
    case Algorithm::pairwise:
    case Algorithm::direct:
      return protocol == Protocol::ll || protocol == Protocol::simple;
    default:
      return protocol == Protocol::simple;
  }
}

}  // namespace

std::optional<CollectiveTerms> terms_of(Collective collective, Algorithm algorithm,
                                        Protocol protocol, const GroupPaths& paths) {
  if (paths.ranks < 2 || !has_protocol(algorithm, protocol)) {
    return std::nullopt;
  }
  std::optional<CollectiveTerms> terms = plain_terms(collective, algorithm, paths);
  if (terms) {
    const bool trees = algorithm == Algorithm::tree || algorithm == Algorithm::nvls_tree ||
                       algorithm == Algorithm::pat;
    terms->depth_inside = paths.local - 1.0;
    // Messages of an all-to-all are in flight side by side, but as many meet at a NIC as a ring has
    // stages: until somebody measures what that costs, it costs as much (docs/model.md, 8.2).
    terms->depth_between = trees ? terms->steps_between : paths.domains - 1.0;
    terms->bytes_inside *= protocol_overhead(protocol);
    terms->bytes_between *= protocol_overhead(protocol);
  }
  return terms;
}

}  // namespace payoff
