// SPDX-License-Identifier: Apache-2.0
#include "model/nccl_estimate.hpp"

#include <algorithm>
#include <cstddef>

#include "model/network_post.hpp"
#include "model/powers_of_two.hpp"

namespace payoff {
namespace {

bool gathers(Collective c) { return family_of(c) == CollectiveFamily::gathers; }

const nccl::Latencies& latencies_of(NcclRelease release) {
  switch (release) {
    case NcclRelease::v2_8:
      return nccl::latencies_2_8;
    case NcclRelease::v2_12:
      return nccl::latencies_2_12;
    case NcclRelease::v2_18:
      return nccl::latencies_2_18;
    case NcclRelease::v2_23:
      return nccl::latencies_2_23;
    case NcclRelease::v2_28:
      break;
  }
  return nccl::latencies_2_28;
}

nccl::Caps caps_of(std::size_t generation, NcclRelease release) {
  if (release < NcclRelease::v2_18) {
    generation = std::min<std::size_t>(generation, 1);
  }
  nccl::Caps caps = nccl::caps_2_28.at(generation);
  if (generation == 3 && release < NcclRelease::v2_28) {
    caps = nccl::blackwell_2_23;
  }
  if (generation >= 2 && release < NcclRelease::v2_23) {
    caps.ll = nccl::hopper_ll_2_18;
  }
  return caps;
}

double steps_of(Collective collective, int ranks) {
  switch (collective) {
    case Collective::all_reduce:
      return 2.0 * (ranks - 1);
    case Collective::all_gather:
    case Collective::reduce_scatter:
      return ranks - 1.0;
    default:
      return ranks;
  }
}

// Whether NCCL has the algorithm for the collective, before it looks at bandwidths.
bool exists(Collective collective, Algorithm algorithm, Protocol protocol, const NcclGroup& group) {
  const auto& [cluster, paths, topology, release] = group;
  const bool one_node = paths.domains == 1;
  switch (algorithm) {
    case Algorithm::ring:
      return true;
    case Algorithm::tree:
      return collective == Collective::all_reduce;
    case Algorithm::nvls:
      return topology.nvls && one_node && protocol == Protocol::simple &&
             topology.in_switch.count >= 2 &&
             (collective == Collective::all_reduce ||
              (gathers(collective) && release >= NcclRelease::v2_23));
    case Algorithm::nvls_tree:
      return topology.nvls && !one_node && protocol == Protocol::simple &&
             topology.in_switch.count >= 2 && collective == Collective::all_reduce;
    case Algorithm::pat:
      return gathers(collective) && protocol == Protocol::simple && paths.local == 1 &&
             release >= NcclRelease::v2_23;
    default:
      return false;
  }
}

struct Context {
  const GroupPaths& paths;
  const NcclTopology& topology;
  NcclRelease release;
  nccl::Caps caps;
  std::size_t scale;  // column of the caps
  double ll_cap;

  [[nodiscard]] double ranks() const { return paths.ranks; }
};

Context context_of(const NcclGroup& group) {
  const std::size_t generation = group.topology.generation;
  const auto scale = static_cast<std::size_t>(std::min(group.paths.domains, 3) - 1);
  const nccl::Caps caps = caps_of(generation, group.release);
  // Between nodes the CPU decides, not the GPU.
  const std::size_t cpu = group.cluster.cpu == CpuVendor::amd ? 1 : 0;
  const double ll_cap = scale == 0 ? caps.ll[0] : nccl::caps_2_28.at(cpu).ll.at(scale);
  return {group.paths, group.topology, group.release, caps, scale, ll_cap};
}

// Bus bandwidth of the in-switch algorithms, and what NCCL makes of it for the call.
double in_switch_bandwidth(Collective collective, Algorithm algorithm, const Context& c) {
  const NcclChannels& channels = c.topology.in_switch;
  const double count = channels.count;
  const double local = c.paths.local;
  const bool all_reduce = collective == Collective::all_reduce;
  const bool tree = algorithm == Algorithm::nvls_tree;
  const double twice = c.scale <= 1 ? 2.0 : 1.0;
  if (c.release < NcclRelease::v2_28) {
    const double inter = channels.inter * twice / 2;
    const double bus = count * std::min(channels.intra, tree ? inter : channels.intra);
    if (c.release == NcclRelease::v2_18 && tree) {
      return bus * 0.70 * c.paths.domains / (2.0 * (c.paths.domains - 1));
    }
    return gathers(collective) ? bus : bus * 5.0 / 6.0;
  }
  double channel = channels.intra * c.caps.nvls_efficiency * (count - 1) / count;
  channel *= all_reduce ? 2.0 : (local - 1) / local;
  if (tree) {
    channel = std::min({channel, channels.inter * twice, c.caps.nvls_tree.at(c.scale)});
  }
  const double bus = count * channel;
  return all_reduce ? bus * c.ranks() / steps_of(collective, c.paths.ranks) : bus;
}

double ring_bandwidth(Collective collective, Protocol protocol, const Context& c) {
  const NcclChannels& channels = c.topology.ring;
  double bus = channels.count * (c.scale <= 1 ? channels.intra : channels.inter);
  const bool old = c.release <= NcclRelease::v2_18;
  if (protocol == Protocol::ll) {
    const bool quarter =
        c.scale > 0 || collective == Collective::all_reduce || collective == Collective::reduce;
    const double share = !old ? 0.5 : quarter ? 1.0 / 4.0 : 1.0 / 3.0;
    bus = std::min(c.ll_cap, bus * share);
  } else if (protocol == Protocol::ll128) {
    const double share = old && c.paths.local == 1 ? 0.7 : 0.92;
    bus = std::min(bus * share, channels.count * c.caps.ring_ll128.at(c.scale));
  }
  return bus * c.ranks() / steps_of(collective, c.paths.ranks);
}

double tree_bandwidth(Protocol protocol, const Context& c) {
  const NcclChannels& channels = c.topology.tree;
  double bus = channels.count * (c.scale <= 1 ? channels.intra : channels.inter);
  bus = std::min(bus * 0.92, channels.count * c.caps.tree.at(c.scale));
  if (protocol == Protocol::ll) {
    bus = std::min(bus / 3.8, c.ll_cap);
  } else if (protocol == Protocol::ll128) {
    bus = std::min(bus * (c.scale == 0 ? 7.0 / 9.0 : 120.0 / 128.0),
                   channels.count * c.caps.tree_ll128.at(c.scale));
  }
  return bus / 2;
}

double bandwidth(Collective collective, Algorithm algorithm, Protocol protocol, const Context& c) {
  if (protocol == Protocol::ll128 && !c.topology.ll128) {
    return 0;
  }
  switch (algorithm) {
    case Algorithm::ring:
      return ring_bandwidth(collective, protocol, c);
    case Algorithm::tree:
      return tree_bandwidth(protocol, c);
    case Algorithm::nvls:
    case Algorithm::nvls_tree:
      return in_switch_bandwidth(collective, algorithm, c);
    default: {
      const NcclChannels& ring = c.topology.ring;
      return 0.75 * ring.count * (c.scale <= 1 ? ring.intra : ring.inter);
    }
  }
}

struct LatencyContext {
  const GroupPaths& paths;
  const nccl::Latencies& table;
  const nccl::AlgorithmLatency& inside;
  NcclRelease release;
  double plugin;  // what the network plug-in reports
  CpuVendor cpu;  // posts every step, between nodes
};

LatencyContext latency_context_of(const NcclGroup& group) {
  const nccl::Latencies& table = latencies_of(group.release);
  const bool alone = group.paths.domains == 1;
  return {group.paths,
          table,
          group.topology.nvlink ? table.nvlink : table.pcie,
          group.release,
          alone ? 0.0 : group.cluster.network.tuner_latency / 1_us,
          group.cluster.cpu};
}

double ring_latency(Collective collective, std::size_t p, const LatencyContext& c) {
  const bool one_node = c.paths.domains == 1;
  const double simple = p == nccl::place_of(Protocol::simple) ? 2.0 : 1.0;
  const bool exposed = c.paths.local == 1 && c.release >= NcclRelease::v2_23;
  const double inter =
      (exposed ? c.table.network.tree : c.table.network.ring).at(p) + simple * c.plugin;
  if (collective == Collective::broadcast || collective == Collective::reduce) {
    return c.table.base.ring.at(p) + (one_node ? c.inside.ring : c.table.network.ring).at(p);
  }
  double intra = c.inside.ring.at(p);
  if (!one_node) {
    if (c.release >= NcclRelease::v2_18) {
      const Protocol protocol =
          p == nccl::place_of(Protocol::simple) ? Protocol::simple : Protocol::ll;
      intra = std::max(intra, network_post(c.cpu, protocol) / 1_us);
    } else if (p == nccl::place_of(Protocol::ll)) {
      intra *= 1.8;
    }
  }
  const double steps = steps_of(collective, c.paths.ranks);
  const double crossings = one_node ? 0.0 : steps_of(collective, c.paths.domains);
  return c.table.base.ring.at(p) + (steps - crossings) * intra + crossings * inter;
}

// Microseconds of a call without its bytes.
double latency(Collective collective, Algorithm algorithm, std::size_t p, const LatencyContext& c) {
  const double simple = p == nccl::place_of(Protocol::simple) ? 2.0 : 1.0;
  const double levels = log2_floor(c.paths.domains);
  switch (algorithm) {
    case Algorithm::ring:
      return ring_latency(collective, p, c);
    case Algorithm::tree:
      return c.table.base.tree.at(p) +
             2 * ((c.paths.local - 1) * c.inside.tree.at(p) +
                  levels * (c.table.network.tree.at(p) + simple * c.plugin));
    case Algorithm::nvls:
      return c.table.base.nvls + c.inside.nvls;
    case Algorithm::nvls_tree:
      return c.table.base.nvls_tree + c.inside.nvls_tree +
             2 * levels * (c.table.network.nvls_tree + simple * c.plugin);
    default:
      return c.table.base.pat + levels * (c.table.network.tree.at(p) + simple * c.plugin) / 3.5 +
             2.8 * c.paths.ranks;
  }
}

}  // namespace

NcclEstimate nccl_estimate(Collective collective, Algorithm algorithm, Protocol protocol,
                           const NcclGroup& group) {
  if (!exists(collective, algorithm, protocol, group)) {
    return {};
  }
  const double gigabytes = bandwidth(collective, algorithm, protocol, context_of(group));
  if (gigabytes <= 0) {
    return {};
  }
  return {latency(collective, algorithm, nccl::place_of(protocol), latency_context_of(group)),
          1 / (1000 * gigabytes)};
}

}  // namespace payoff
