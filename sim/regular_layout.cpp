// SPDX-License-Identifier: Apache-2.0
#include "sim/regular_layout.hpp"

namespace payoff::sim {
namespace {

constexpr std::uint32_t whole(int count) { return static_cast<std::uint32_t>(count); }
constexpr std::uint32_t divide_up(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

}  // namespace

RegularLayout::RegularLayout(const RegularTopology& topology)
    : topology_(topology),
      servers_(whole(topology.servers)),
      gpus_(whole(topology.server.gpus)),
      pcie_begin_(gpus_ + (topology.server.fabric == ServerFabric::switched ? 1U : 0U)),
      pcie_switches_(topology.server.sockets > 0 ? whole(topology.server.pcie_switches) : 0),
      sockets_(whole(topology.server.sockets)),
      nics_(whole(topology.server.nics)),
      per_server_(pcie_begin_ + pcie_switches_ + sockets_ + nics_) {
  measure_network();
}

void RegularLayout::measure_network() {
  const bool direct = std::holds_alternative<Torus>(topology_.network) ||
                      std::holds_alternative<FullMesh>(topology_.network);
  bare_ = direct && nics_ == 0;
  if (direct) {
    network_size_ = bare_ || servers_ == 1 ? 0 : servers_;
  } else if (const auto* fat = std::get_if<FatTree>(&topology_.network)) {
    tree_.leaf_groups = divide_up(servers_, whole(fat->servers_per_leaf));
    tree_.rails = fat->rails ? nics_ : 1;
    tree_.groups_per_pod = fat->leaves_per_pod > 0 ? whole(fat->leaves_per_pod) : tree_.leaf_groups;
    tree_.pods = divide_up(tree_.leaf_groups, tree_.groups_per_pod);
    tree_.spines = whole(fat->spines);
    tree_.cores_per_spine = fat->leaves_per_pod > 0 ? whole(fat->cores_per_spine) : 0;
    network_size_ = tree_.size();
  } else if (const auto* fly = std::get_if<Dragonfly>(&topology_.network)) {
    group_size_ = whole(fly->routers) + (fly->plus ? whole(fly->spines) : 0);
    const std::uint32_t carriers = whole(fly->plus ? fly->spines : fly->routers);
    links_per_group_pair_ = carriers * whole(fly->global_links) / (whole(fly->groups) - 1);
    network_size_ = whole(fly->groups) * group_size_;
  } else {
    network_size_ = servers_ > 1 ? 1 : 0;
  }
}

VertexId RegularLayout::entry(std::uint32_t s, std::uint32_t i) const {
  if (const auto* fat = std::get_if<FatTree>(&topology_.network)) {
    const std::uint32_t group = s / whole(fat->servers_per_leaf);
    return network(group * tree_.rails + (fat->rails ? i : 0));
  }
  if (const auto* fly = std::get_if<Dragonfly>(&topology_.network)) {
    const std::uint32_t router = s / whole(fly->servers_per_router);
    const std::uint32_t routers = whole(fly->routers);
    return network(router / routers * group_size_ + router % routers);
  }
  if (std::holds_alternative<SingleSwitch>(topology_.network)) {
    return network(0);
  }
  return bare_ ? gpu(s, 0) : network(s);
}

std::uint32_t RegularLayout::carrier(std::uint32_t group, std::uint32_t other,
                                     std::uint32_t i) const {
  const auto& fly = std::get<Dragonfly>(topology_.network);
  const std::uint32_t groups = whole(fly.groups);
  const std::uint32_t offset = (other + groups - group) % groups;
  const std::uint32_t port = (offset - 1) * links_per_group_pair_ + i;
  return (fly.plus ? whole(fly.routers) : 0) + port / whole(fly.global_links);
}

}  // namespace payoff::sim
