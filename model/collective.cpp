// SPDX-License-Identifier: Apache-2.0
#include "model/collective.hpp"

#include <algorithm>
#include <cmath>

#include "model/collective_links.hpp"
#include "model/collective_terms.hpp"
#include "model/spread_band.hpp"

namespace payoff {
namespace {

constexpr std::size_t index(Collective c) { return static_cast<std::size_t>(c); }
constexpr std::size_t index(Algorithm a) { return static_cast<std::size_t>(a); }
constexpr std::size_t index(Protocol p) { return static_cast<std::size_t>(p); }

}  // namespace

Bandwidth node_limit(const Network& network) {
  return network.node_limit.value_or(network.law.node_limit);
}

std::size_t size_band(Bytes size) { return size <= 64_KiB ? 0U : size <= 256_MiB ? 1U : 2U; }

CollectiveModel::CollectiveModel(const Cluster& cluster, const Group& group, NcclRelease release)
    : group_(group), tuner_(cluster, paths_of(cluster, group), release) {
  if (group.ranks < 2) {
    return;
  }
  const GroupPaths paths = paths_of(cluster, group);
  const LinkLaw& network = cluster.network.law;
  const LinkLaw& fabric = cluster.fabric.law;
  const Bandwidth limit = node_limit(cluster.network);
  const double limit_sd = cluster.network.node_limit ? 0.0 : network.relative_sd_node_limit;
  for (std::size_t c = 0; c < collective_count; ++c) {
    for (std::size_t a = 0; a < algorithm_count; ++a) {
      for (std::size_t p = 0; p < protocol_count; ++p) {
        const auto algorithm = static_cast<Algorithm>(a);
        const auto protocol = static_cast<Protocol>(p);
        const auto terms = terms_of(static_cast<Collective>(c), algorithm, protocol, paths);
        if (!terms) {
          continue;
        }
        const LinkTerms in = terms_inside(cluster, *terms, algorithm, protocol, paths);
        const auto between_at = [&, channels = tuner_.most_channels()](double of_limit) {
          return terms_between(cluster, *terms, protocol, paths, channels, limit * of_limit);
        };
        const LinkTerms out = between_at(1);
        Cost& cost = costs_[c][a][p];
        cost.latency = std::max(in.launch, out.launch) + in.step * in.steps + out.step * out.steps;
        cost.seconds_per_byte = pipelined(in.seconds_per_byte(), out.seconds_per_byte());
        if (paths.domains > 1 && cluster.network.gathers > Bandwidth{} &&
            static_cast<Collective>(c) == Collective::all_gather) {
          cost.seconds_per_byte += 1 / cluster.network.gathers.si;
        }
        cost.root = in.root;
        cost.fill = out.root;
        cost.per_root_full = out.per_root_full;
        if (paths.domains > 1 && limit_sd > 0) {
          const auto per_byte_at = [&](double of_limit) {
            return pipelined(in.seconds_per_byte(), between_at(of_limit).seconds_per_byte());
          };
          cost.per_byte_sd =
              std::log(per_byte_at(std::exp(-limit_sd)) / per_byte_at(std::exp(limit_sd))) / 2;
        }
        cost.available = true;
        const Rendezvous rendezvous = rendezvous_of(cluster, *terms, protocol, paths);
        cost.rendezvous = rendezvous.time;
        cost.eager = rendezvous.eager;
      }
    }
  }
  const LinkLaw& uncertain = paths.domains > 1 ? network : fabric;
  if (paths.domains == 1 && fabric.channel > Bandwidth{}) {
    channel_ = fabric.channel.si;
  }
  domain_ = uncertain.domain;
  relative_sd_ = {uncertain.relative_sd_small, uncertain.relative_sd_middle,
                  uncertain.relative_sd_large};
}

CollectivePrice CollectiveModel::price_of(Bytes size, const NcclChoice& choice,
                                          const Cost& cost) const {
  CollectivePrice price;
  double seconds_per_byte = cost.seconds_per_byte;
  if (choice.algorithm == Algorithm::direct && channel_ > 0) {
    seconds_per_byte = std::max(seconds_per_byte, 1 / (choice.channels * channel_));
  }
  const double root = std::sqrt(size.si);
  const double fill = cost.fill / (1 + cost.per_root_full * root);
  price.time = cost.latency + ((cost.root + fill) * root + seconds_per_byte * size.si) * 1_s;
  price.latency = cost.latency;
  if (cost.rendezvous > 0_s && size > cost.eager) {
    price.time += cost.rendezvous;
    price.latency += cost.rendezvous;
  }
  price.algorithm = choice.algorithm;
  price.protocol = choice.protocol;
  price.channels = choice.channels;
  // The fill between domains goes with the root of the time on the wire. Both spreads are those
  // between systems: the larger one counts.
  const Seconds wire = (fill * root / 2 + seconds_per_byte * size.si) * 1_s;
  price.relative_sd =
      std::max(relative_sd_.at(spread_band(size)), cost.per_byte_sd * (wire / price.time));
  price.extrapolated = !domain_.covers(size, group_.ranks);
  return price;
}

CollectivePrice CollectiveModel::price(Collective collective, Bytes size) const {
  if (group_.ranks < 2 || size <= 0_B) {
    return {};
  }
  NcclChoice choice = tuner_.choose(collective, size, pinned_.algorithm, pinned_.protocol);
  if (choice.algorithm == Algorithm::none) {
    choice = tuner_.choose(collective, size, Algorithm::none, Protocol::none);
  }
  return price_of(size, choice,
                  costs_[index(collective)][index(choice.algorithm)][index(choice.protocol)]);
}

std::optional<CollectivePrice> CollectiveModel::price_pinned(Collective collective, Bytes size,
                                                             Algorithm algorithm,
                                                             Protocol protocol) const {
  if (group_.ranks < 2 || size <= 0_B) {
    return CollectivePrice{};
  }
  const NcclChoice choice = tuner_.choose(collective, size, algorithm, protocol);
  if (choice.algorithm == Algorithm::none) {
    return std::nullopt;
  }
  return price_of(size, choice,
                  costs_[index(collective)][index(choice.algorithm)][index(choice.protocol)]);
}

CollectivePrice launched_by_one_process(CollectivePrice alone, int gpus, const HostLaw& host) {
  const Seconds launches = gpus * host.launch_per_gpu;
  if (gpus > 1 && launches > alone.time) {
    alone.relative_sd = host.relative_sd;
    alone.latency = launches;
  }
  if (gpus > 1) {
    alone.time = pipelined(alone.time / 1_s, launches / 1_s) * 1_s;
  }
  return alone;
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

Bytes message_memory_traffic(Collective collective, Bytes size, int ranks) {
  constexpr double passes_gather = 2;
  constexpr double passes_reduce = 3;
  const Bytes wire = wire_bytes_per_rank(collective, size, ranks);
  switch (collective) {
    case Collective::all_reduce:  // half of it adds, half of it gathers
      return wire * ((passes_gather + passes_reduce) / 2);
    case Collective::reduce_scatter:
    case Collective::reduce:
      return wire * passes_reduce;
    default:
      return wire * passes_gather;
  }
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
