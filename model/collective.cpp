// SPDX-License-Identifier: Apache-2.0
#include "model/collective.hpp"

#include <algorithm>
#include <cmath>

#include "model/collective_terms.hpp"

namespace payoff {
namespace {

constexpr std::size_t index(Collective c) { return static_cast<std::size_t>(c); }
constexpr std::size_t index(Algorithm a) { return static_cast<std::size_t>(a); }
constexpr std::size_t index(Protocol p) { return static_cast<std::size_t>(p); }

struct ProtocolLaw {
  Seconds step{};
  double share{};
};

ProtocolLaw law_of(const LinkLaw& law, Algorithm algorithm, Protocol protocol) {
  if (algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree) {
    return {law.step_nvls, law.share_nvls};
  }
  switch (protocol) {
    case Protocol::ll:
      return {law.step_ll, law.share_ll};
    case Protocol::ll128:
      return {law.step_ll128, law.share_ll128};
    default:
      return {law.step_simple, law.share_simple};
  }
}

// Shares of a network that are lost to other traffic of the same job: routes collide more as more
// nodes talk.
double congestion(const LinkLaw& law, int domains) {
  return domains <= 2 ? 1.0 : std::pow(1.0 - law.congestion_per_doubling, std::log2(domains / 2.0));
}

struct Link {
  Seconds steps{};
  double seconds_per_byte{};
  double ramp{};
};

Link inside(const Cluster& cluster, const CollectiveTerms& terms, Algorithm algorithm,
            Protocol protocol, const GroupPaths& paths) {
  if (paths.local < 2) {
    return {};
  }
  const LinkLaw& law = cluster.fabric.law;
  const ProtocolLaw protocol_law = law_of(law, algorithm, protocol);
  const Bandwidth nominal = terms.one_flow ? paths.peer : paths.gpu;
  return {protocol_law.step * terms.steps_inside,
          terms.bytes_inside / (nominal.si * protocol_law.share), law.ramp};
}

Link between(const Cluster& cluster, const CollectiveTerms& terms, Protocol protocol,
             const GroupPaths& paths) {
  if (paths.domains < 2) {
    return {};
  }
  const LinkLaw& law = cluster.network.law;
  const ProtocolLaw protocol_law = law_of(law, Algorithm::none, protocol);
  Bandwidth achieved = (terms.one_flow ? paths.rank : paths.domain) * protocol_law.share;
  if (cluster.network.node_limit) {
    achieved = std::min(achieved, *cluster.network.node_limit / paths.rivals);
  }
  return {protocol_law.step * terms.steps_between,
          terms.bytes_between / (achieved.si * congestion(law, paths.domains)), law.ramp};
}

std::size_t size_band(Bytes size) { return size <= 64_KiB ? 0U : size <= 256_MiB ? 1U : 2U; }

}  // namespace

CollectiveModel::CollectiveModel(const Cluster& cluster, const Group& group, NcclRelease release)
    : group_(group), tuner_(cluster, paths_of(cluster, group), release) {
  if (group.ranks < 2) {
    return;
  }
  const GroupPaths paths = paths_of(cluster, group);
  const LinkLaw& network = cluster.network.law;
  const LinkLaw& fabric = cluster.fabric.law;
  for (std::size_t c = 0; c < collective_count; ++c) {
    for (std::size_t a = 0; a < algorithm_count; ++a) {
      for (std::size_t p = 0; p < protocol_count; ++p) {
        const auto algorithm = static_cast<Algorithm>(a);
        const auto protocol = static_cast<Protocol>(p);
        const auto terms = terms_of(static_cast<Collective>(c), algorithm, protocol, paths);
        if (!terms) {
          continue;
        }
        const Link in = inside(cluster, *terms, algorithm, protocol, paths);
        const Link out = between(cluster, *terms, protocol, paths);
        const Link& slow = in.seconds_per_byte > out.seconds_per_byte ? in : out;
        const Seconds steps = in.steps + out.steps;
        Cost& cost = costs_[c][a][p];
        cost.latency = std::max(paths.local > 1 ? fabric.launch : 0_s,
                                paths.domains > 1 ? network.launch : 0_s) +
                       steps;
        cost.seconds_per_byte = slow.seconds_per_byte;
        cost.root = slow.ramp * std::sqrt(steps.si * slow.seconds_per_byte);
        cost.available = true;
      }
    }
  }
  const LinkLaw& uncertain = paths.domains > 1 ? network : fabric;
  relative_sd_ = {uncertain.relative_sd_small, uncertain.relative_sd_middle,
                  uncertain.relative_sd_large};
}

CollectivePrice CollectiveModel::price_of(Bytes size, const NcclChoice& choice,
                                          const Cost& cost) const {
  CollectivePrice price;
  price.time =
      cost.latency + (cost.root * std::sqrt(size.si) + cost.seconds_per_byte * size.si) * 1_s;
  price.latency = cost.latency;
  price.algorithm = choice.algorithm;
  price.protocol = choice.protocol;
  price.channels = choice.channels;
  price.relative_sd = relative_sd_.at(size_band(size));
  price.extrapolated = extrapolated_;
  return price;
}

CollectivePrice CollectiveModel::price(Collective collective, Bytes size) const {
  if (group_.ranks < 2 || size <= 0_B) {
    return {};
  }
  const NcclChoice choice = tuner_.choose(collective, size);
  return price_of(size, choice,
                  costs_[index(collective)][index(choice.algorithm)][index(choice.protocol)]);
}

std::optional<CollectivePrice> CollectiveModel::price_pinned(Collective collective, Bytes size,
                                                             Algorithm algorithm,
                                                             Protocol protocol) const {
  if (group_.ranks < 2 || size <= 0_B) {
    return CollectivePrice{};
  }
  const Cost& cost = costs_[index(collective)][index(algorithm)][index(protocol)];
  if (!cost.available || !tuner_.has(collective, algorithm, protocol)) {
    return std::nullopt;
  }
  return price_of(size, {algorithm, protocol, tuner_.channels(size, algorithm, protocol)}, cost);
}

double bus_factor(Collective collective, int ranks) {
  const double n = ranks;
  switch (collective) {
    case Collective::all_reduce:
      return 2 * (n - 1) / n;
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::all_to_all:
      return (n - 1) / n;
    case Collective::broadcast:
    case Collective::reduce:
    case Collective::send_recv:
      break;
  }
  return 1.0;
}

Bytes wire_bytes_per_rank(Collective collective, Bytes size, int ranks) {
  return ranks < 2 ? 0_B : size * bus_factor(collective, ranks);
}

std::string_view name(Collective collective) {
  constexpr std::array<std::string_view, collective_count> names{
      "all_reduce", "all_gather", "reduce_scatter", "broadcast",
      "reduce",     "all_to_all", "send_recv"};
  return names.at(index(collective));
}

std::string_view name(Algorithm algorithm) {
  constexpr std::array<std::string_view, algorithm_count> names{
      "none",           "ring",          "tree", "nvls",     "nvls_tree",
      "collnet_direct", "collnet_chain", "pat",  "pairwise", "direct"};
  return names.at(index(algorithm));
}

std::string_view name(Protocol protocol) {
  constexpr std::array<std::string_view, protocol_count> names{"none", "ll", "ll128", "simple"};
  return names.at(index(protocol));
}

}  // namespace payoff
