// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/topology.hpp"
#include "sim/link_graph.hpp"

// Which vertex of a regular topology has which number. Servers come first, one after the other and
// all alike: GPUs, the switch of the fabric, PCIe switches, sockets, NICs. Then the switches of the
// network, level by level. Everything here is arithmetic, so routes need no search.

namespace payoff::sim {

class RegularLayout {
 public:
  explicit RegularLayout(const RegularTopology& topology);

  [[nodiscard]] const RegularTopology& topology() const { return topology_; }
  [[nodiscard]] const Server& server() const { return topology_.server; }
  [[nodiscard]] std::uint32_t servers() const { return servers_; }
  [[nodiscard]] std::uint32_t gpus_per_server() const { return gpus_; }

  // Item `i` of server `s`.
  [[nodiscard]] VertexId gpu(std::uint32_t s, std::uint32_t i) const { return s * per_server_ + i; }
  [[nodiscard]] VertexId fabric_switch(std::uint32_t s) const { return gpu(s, gpus_); }
  [[nodiscard]] VertexId pcie_switch(std::uint32_t s, std::uint32_t i) const {
    return gpu(s, pcie_begin_ + i);
  }
  [[nodiscard]] VertexId socket(std::uint32_t s, std::uint32_t i) const {
    return gpu(s, pcie_begin_ + pcie_switches_ + i);
  }
  [[nodiscard]] VertexId nic(std::uint32_t s, std::uint32_t i) const {
    return gpu(s, pcie_begin_ + pcie_switches_ + sockets_ + i);
  }

  [[nodiscard]] bool has_fabric_switch() const { return pcie_begin_ > gpus_; }
  [[nodiscard]] std::uint32_t pcie_switches() const { return pcie_switches_; }
  [[nodiscard]] std::uint32_t sockets() const { return sockets_; }
  [[nodiscard]] std::uint32_t nics() const { return nics_; }
  // What an item of a server hangs on; equal runs.
  [[nodiscard]] std::uint32_t nic_of_gpu(std::uint32_t i) const { return i * nics_ / gpus_; }
  [[nodiscard]] std::uint32_t pcie_of_gpu(std::uint32_t i) const {
    return i * pcie_switches_ / gpus_;
  }
  [[nodiscard]] std::uint32_t pcie_of_nic(std::uint32_t i) const {
    return i * pcie_switches_ / nics_;
  }
  [[nodiscard]] std::uint32_t socket_of_pcie(std::uint32_t i) const {
    return i * sockets_ / pcie_switches_;
  }
  [[nodiscard]] std::uint32_t socket_of_nic(std::uint32_t i) const { return i * sockets_ / nics_; }

  // The server's GPU is itself a router of the network: no NIC, no switch.
  [[nodiscard]] bool bare() const { return bare_; }
  [[nodiscard]] VertexId network(std::uint32_t i) const { return servers_ * per_server_ + i; }
  [[nodiscard]] std::uint32_t network_size() const { return network_size_; }
  // Where NIC `i` of server `s` enters the network.
  [[nodiscard]] VertexId entry(std::uint32_t s, std::uint32_t i) const;

  // Fat tree.
  struct TreeSize {
    std::uint32_t leaf_groups{};
    std::uint32_t rails{1};  // leaves of a group
    std::uint32_t groups_per_pod{};
    std::uint32_t pods{1};
    std::uint32_t spines{};  // of a pod
    std::uint32_t cores_per_spine{};

    [[nodiscard]] std::uint32_t leaves() const { return leaf_groups * rails; }
    [[nodiscard]] std::uint32_t pod_of_leaf(std::uint32_t leaf) const {
      return leaf / rails / groups_per_pod;
    }
    [[nodiscard]] std::uint32_t spine(std::uint32_t pod, std::uint32_t i) const {
      return leaves() + pod * spines + i;
    }
    [[nodiscard]] std::uint32_t core(std::uint32_t spine, std::uint32_t i) const {
      return leaves() + pods * spines + spine * cores_per_spine + i;
    }
    [[nodiscard]] std::uint32_t size() const {
      return leaves() + pods * spines + spines * cores_per_spine;
    }
  };
  [[nodiscard]] const TreeSize& tree() const { return tree_; }

  // Dragonfly: in a group, routers first, then spines. A carrier has global links.
  [[nodiscard]] std::uint32_t group_size() const { return group_size_; }
  [[nodiscard]] std::uint32_t links_per_group_pair() const { return links_per_group_pair_; }
  // The carrier in `group`, counted in the group, of link `i` to the group `other`.
  [[nodiscard]] std::uint32_t carrier(std::uint32_t group, std::uint32_t other,
                                      std::uint32_t i) const;

 private:
  void measure_network();

  RegularTopology topology_;
  std::uint32_t servers_;
  std::uint32_t gpus_;
  std::uint32_t pcie_begin_;
  std::uint32_t pcie_switches_;
  std::uint32_t sockets_;
  std::uint32_t nics_;
  std::uint32_t per_server_;
  bool bare_ = false;
  std::uint32_t network_size_ = 0;
  TreeSize tree_;
  std::uint32_t group_size_ = 0;
  std::uint32_t links_per_group_pair_ = 0;
};

}  // namespace payoff::sim
