// SPDX-License-Identifier: Apache-2.0
#include "model/collective.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/collective_links.hpp"
#include "model/collective_terms.hpp"
#include "model/other_all_reduce.hpp"
#include "model/spread_band.hpp"

namespace payoff {

Bandwidth node_limit(const Network& network) {
  return network.node_limit.value_or(network.law.node_limit);
}

std::size_t CollectiveModel::place(Collective collective, Algorithm algorithm, Protocol protocol) {
  return (index(collective) * algorithm_count + index(algorithm)) * protocol_count +
         index(protocol);
}

CollectiveModel::CollectiveModel(const Cluster& cluster, const Group& group, NcclRelease release)
    : group_(group), tuner_(cluster, paths_of(cluster, group), release) {
  if (group.ranks < 2) {
    return;
  }
  constexpr std::size_t usual = 32;
  costs_.reserve(usual);
  costs_.emplace_back();  // of what there is not
  const GroupPaths& paths = tuner_.paths();
  bound_ = CollectiveBound(cluster, paths);
  for (std::size_t c = 0; c < collective_count; ++c) {
    for (std::size_t a = 1; a < algorithm_count; ++a) {   // 0: none
      for (std::size_t p = 1; p < protocol_count; ++p) {  // likewise
        add_cost(cluster, static_cast<Collective>(c), static_cast<Algorithm>(a),
                 static_cast<Protocol>(p));
      }
    }
  }
  const LinkLaw& fabric = cluster.fabric.law;
  const LinkLaw& uncertain = paths.domains > 1 ? cluster.network.law : fabric;
  if (paths.domains == 1 && fabric.channel > Bandwidth{}) {
    channel_ = fabric.channel.si;
  }
  domain_ = uncertain.domain;
  set_spreads(uncertain);
  if (group.all_reduce != AllReduceBy::nccl) {
    set_other(cluster);
  }
  for (std::size_t kind = 1; kind < cluster.kinds.size(); ++kind) {
    others_.emplace_back(cluster.kinds[kind], group, release);
  }
}

// None of what NCCL has not: it is never chosen.
void CollectiveModel::add_cost(const Cluster& cluster, Collective collective, Algorithm algorithm,
                               Protocol protocol) {
  const GroupPaths& paths = tuner_.paths();
  if (!tuner_.has(collective, algorithm, protocol)) {
    return;
  }
  const auto terms = terms_of(collective, algorithm, protocol, paths);
  if (!terms) {
    return;
  }
  const Network& network = cluster.network;
  const LinkTerms in = terms_inside(cluster, *terms, algorithm, protocol, paths);
  // Where sockets carry so many times what they do.
  const auto between = [&](double of_limit) {
    return terms_between(cluster, *terms, protocol, paths, tuner_.most_channels(),
                         node_limit(network) * of_limit);
  };
  const LinkTerms out = between(1);
  cost_of_[place(collective, algorithm, protocol)] = static_cast<std::uint8_t>(costs_.size());
  Cost& cost = costs_.emplace_back();
  cost.latency = std::max(in.launch, out.launch) + in.latency() + out.latency();
  cost.seconds_per_byte = pipelined(in.seconds_per_byte(), out.seconds_per_byte());
  if (paths.domains > 1 && network.gathers > Bandwidth{} && collective == Collective::all_gather) {
    cost.seconds_per_byte += 1 / network.gathers.si;
  }
  cost.root = in.root;
  cost.fill = out.root;
  cost.per_root_full = out.per_root_full;
  const double limit_sd = network.node_limit ? 0.0 : network.law.relative_sd_node_limit;
  if (paths.domains > 1 && limit_sd > 0) {
    const auto per_byte = [&](double of_limit) {
      return pipelined(in.seconds_per_byte(), between(of_limit).seconds_per_byte());
    };
    cost.per_byte_sd = std::log(per_byte(std::exp(-limit_sd)) / per_byte(std::exp(limit_sd))) / 2;
  }
  const Rendezvous rendezvous = rendezvous_of(cluster, *terms, protocol, paths);
  cost.rendezvous = rendezvous.time;
  cost.eager = rendezvous.eager;
}

// The link itself, a collective that it was not measured with, and more ranks than that: errors
// that have nothing to do with each other.
void CollectiveModel::set_spreads(const LinkLaw& law) {
  const BandSds of_link{law.relative_sd_small, law.relative_sd_middle, law.relative_sd_large};
  const bool more_ranks = domain_.ranks > 0 && group_.ranks > domain_.ranks;
  for (std::size_t family = 0; family < collective_family_count; ++family) {
    for (std::size_t band = 0; band < spread_band_count; ++band) {
      const double further = more_ranks ? law.relative_sd_more_ranks.at(band) : 0.0;
      relative_sd_.at(family).at(band) =
          std::hypot(of_link.at(band), law.relative_sd_family.at(family).at(band), further);
    }
  }
}

void CollectiveModel::set_other(const Cluster& cluster) {
  if (auto [other, reason] = other_all_reduce(cluster, group_); other) {
    phases_ = std::move(other->phases);
    of_root_ = other->of_root;
    if (other->roots) {
      roots_.emplace_back(cluster, *other->roots);
    }
  }
}

// It is taken to hold as many thread blocks as NCCL's.
CollectivePrice CollectiveModel::price_other(Bytes size) const {
  CollectivePrice price;
  price.by = group_.all_reduce;
  price.protocol = Protocol::simple;
  price.extrapolated = true;
  const auto add = [&](Seconds time, Seconds latency, double relative_sd) {
    price.time += time;
    price.latency += latency;
    price.relative_sd = std::max(price.relative_sd, relative_sd);
  };
  for (const UnmeasuredLaw& phase : phases_) {
    const UnmeasuredPrice alone = phase.price(size);
    add(alone.time, alone.latency, alone.relative_sd);
  }
  for (const CollectiveModel& roots : roots_) {
    const CollectivePrice way = roots.price(Collective::all_to_all, size * of_root_);
    add(2 * way.time, 2 * way.latency, way.relative_sd);
  }
  price.channels =
      tuner_.choose(Collective::all_reduce, size, Algorithm::none, Protocol::none).channels;
  return price;
}

CollectivePrice CollectiveModel::price_of(Collective collective, Bytes size,
                                          const NcclChoice& choice) const {
  const Cost& cost = this->cost(collective, choice);
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
  price.relative_sd = std::max(relative_sd_[index(family_of(collective))].at(spread_band(size)),
                               cost.per_byte_sd * (wire / price.time));
  price.least = std::min(bound_.least(collective, size), price.time);
  price.extrapolated = !domain_.covers(size, group_.ranks);
  return price;
}

CollectivePrice CollectiveModel::price(Collective collective, Bytes size) const {
  CollectivePrice slowest = price_alike(collective, size);
  for (const CollectiveModel& other : others_) {
    const CollectivePrice price = other.price_alike(collective, size);
    slowest = price.time > slowest.time ? price : slowest;
  }
  return slowest;
}

// As if all nodes were of its own kind.
CollectivePrice CollectiveModel::price_alike(Collective collective, Bytes size) const {
  if (group_.ranks < 2 || size <= 0_B) {
    return {};
  }
  if (collective == Collective::all_reduce && (!phases_.empty() || !roots_.empty())) {
    return price_other(size);
  }
  NcclChoice choice = tuner_.choose(collective, size, pinned_.algorithm, pinned_.protocol);
  if (choice.algorithm == Algorithm::none) {
    choice = tuner_.choose(collective, size, Algorithm::none, Protocol::none);
  }
  return price_of(collective, size, choice);
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
  CollectivePrice slowest = price_of(collective, size, choice);
  for (const CollectiveModel& other : others_) {
    const auto price = other.price_pinned(collective, size, algorithm, protocol);
    if (!price) {
      return std::nullopt;
    }
    slowest = price->time > slowest.time ? *price : slowest;
  }
  return slowest;
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

std::string_view name(AllReduceBy by) {
  constexpr std::array<std::string_view, 3> names{"nccl", "sharp", "packed_trees"};
  return names.at(static_cast<std::size_t>(by));
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
