// SPDX-License-Identifier: Apache-2.0
#include "sim/regular_routes.hpp"

#include <algorithm>
#include <array>
#include <variant>

namespace payoff::sim {
namespace {

using Way = std::vector<VertexId>;

// Through PCIe, from what hangs on a switch or a socket to what hangs on another.
struct PcieEnd {
  VertexId self{};
  std::uint32_t pcie{};  // no_switch: hangs on the socket
  std::uint32_t socket{};
};
constexpr std::uint32_t no_switch = UINT32_MAX;

PcieEnd gpu_end(const RegularLayout& layout, std::uint32_t s, std::uint32_t g) {
  const std::uint32_t pcie = layout.pcie_of_gpu(g);
  return {layout.gpu(s, g), pcie, layout.socket_of_pcie(pcie)};
}

PcieEnd nic_end(const RegularLayout& layout, std::uint32_t s, std::uint32_t k) {
  if (!layout.server().gpudirect) {
    return {layout.nic(s, k), no_switch, layout.socket_of_nic(k)};
  }
  const std::uint32_t pcie = layout.pcie_of_nic(k);
  return {layout.nic(s, k), pcie, layout.socket_of_pcie(pcie)};
}

Way through_pcie(const RegularLayout& layout, std::uint32_t s, const PcieEnd& a, const PcieEnd& b) {
  Way route{a.self};
  if (a.pcie != no_switch) {
    route.push_back(layout.pcie_switch(s, a.pcie));
  }
  if (a.pcie != b.pcie || a.pcie == no_switch) {
    route.push_back(layout.socket(s, a.socket));
    if (a.socket != b.socket) {
      route.push_back(layout.socket(s, b.socket));
    }
    if (b.pcie != no_switch) {
      route.push_back(layout.pcie_switch(s, b.pcie));
    }
  }
  route.push_back(b.self);
  return route;
}

Way inside(const RegularLayout& layout, std::uint32_t s, std::uint32_t a, std::uint32_t b) {
  switch (layout.server().fabric) {
    case ServerFabric::switched:
      return {layout.gpu(s, a), layout.fabric_switch(s), layout.gpu(s, b)};
    case ServerFabric::mesh:
      if (layout.server().mesh[a * layout.gpus_per_server() + b] > 0) {
        return {layout.gpu(s, a), layout.gpu(s, b)};
      }
      return {};
    case ServerFabric::none:
      break;
  }
  return through_pcie(layout, s, gpu_end(layout, s, a), gpu_end(layout, s, b));
}

// From a GPU to its NIC, both included; nothing where the GPU is itself in the network.
Way to_nic(const RegularLayout& layout, std::uint32_t s, std::uint32_t g) {
  if (layout.bare()) {
    return {};
  }
  const std::uint32_t k = layout.nic_of_gpu(g);
  if (layout.sockets() == 0) {
    return {layout.gpu(s, g), layout.nic(s, k)};
  }
  return through_pcie(layout, s, gpu_end(layout, s, g), nic_end(layout, s, k));
}

struct Entries {
  std::uint32_t from_server{};
  std::uint32_t to_server{};
  std::uint32_t a{};  // switches, counted in the network
  std::uint32_t b{};
};

// The ways through the network, switches counted in it, one for each kind of network.
class NetworkRoutes {
 public:
  NetworkRoutes(const RegularLayout& layout, const Entries& entries)
      : layout_(layout), at_(entries) {
    if (const auto* fly = std::get_if<Dragonfly>(&layout.topology().network)) {
      find_carriers(*fly);
    }
  }

  [[nodiscard]] std::uint32_t count() const {
    return std::visit([&](const auto& network) { return count_of(network); },
                      layout_.topology().network);
  }
  [[nodiscard]] Way route(std::uint32_t choice) const {
    return std::visit([&](const auto& network) { return route_of(network, choice); },
                      layout_.topology().network);
  }

 private:
  [[nodiscard]] static std::uint32_t count_of(const SingleSwitch& /*star*/) { return 1; }
  [[nodiscard]] Way route_of(const SingleSwitch& /*star*/, std::uint32_t /*choice*/) const {
    return {at_.a};
  }

  [[nodiscard]] static std::uint32_t count_of(const FullMesh& /*mesh*/) { return 1; }
  [[nodiscard]] Way route_of(const FullMesh& /*mesh*/, std::uint32_t /*choice*/) const {
    return {at_.a, at_.b};
  }

  [[nodiscard]] bool same_pod() const {
    return layout_.tree().pod_of_leaf(at_.a) == layout_.tree().pod_of_leaf(at_.b);
  }
  [[nodiscard]] std::uint32_t count_of(const FatTree& /*fat*/) const {
    const RegularLayout::TreeSize& tree = layout_.tree();
    return at_.a == at_.b ? 1 : same_pod() ? tree.spines : tree.spines * tree.cores_per_spine;
  }
  [[nodiscard]] Way route_of(const FatTree& /*fat*/, std::uint32_t choice) const {
    const RegularLayout::TreeSize& tree = layout_.tree();
    if (at_.a == at_.b) {
      return {at_.a};
    }
    const std::uint32_t i = choice % tree.spines;
    const std::uint32_t up = tree.spine(tree.pod_of_leaf(at_.a), i);
    if (same_pod()) {
      return {at_.a, up, at_.b};
    }
    return {at_.a, up, tree.core(i, choice / tree.spines), tree.spine(tree.pod_of_leaf(at_.b), i),
            at_.b};
  }

  // Several links may join two groups; those that cost the fewest hops inside them count.
  void find_carriers(const Dragonfly& fly) {
    const std::uint32_t size = layout_.group_size();
    const std::uint32_t a = at_.a / size;
    const std::uint32_t b = at_.b / size;
    std::uint32_t fewest = UINT32_MAX;
    for (std::uint32_t i = 0; a != b && i < layout_.links_per_group_pair(); ++i) {
      const std::uint32_t from = a * size + layout_.carrier(a, b, i);
      const std::uint32_t to = b * size + layout_.carrier(b, a, i);
      const std::uint32_t hops = (from != at_.a ? 1U : 0U) + (to != at_.b ? 1U : 0U);
      if (hops < fewest) {
        carriers_.clear();
        fewest = hops;
      }
      // Several links between the same two routers are one bundle.
      const std::array<std::uint32_t, 2> pair{from, to};
      if (hops == fewest &&
          std::find(carriers_.begin(), carriers_.end(), pair) == carriers_.end()) {
        carriers_.push_back(pair);
      }
    }
    if (a == b && fly.plus && at_.a != at_.b) {
      for (auto spine = static_cast<std::uint32_t>(fly.routers); spine < size; ++spine) {
        carriers_.push_back({a * size + spine, a * size + spine});
      }
    }
  }
  [[nodiscard]] std::uint32_t count_of(const Dragonfly& /*fly*/) const {
    return std::max(1U, static_cast<std::uint32_t>(carriers_.size()));
  }
  [[nodiscard]] Way route_of(const Dragonfly& /*fly*/, std::uint32_t choice) const {
    Way route{at_.a};
    if (!carriers_.empty()) {
      const auto& [from, to] = carriers_[choice];
      route.push_back(from);
      route.push_back(to);
    }
    route.push_back(at_.b);
    route.erase(std::unique(route.begin(), route.end()), route.end());
    return route;
  }

  // The dimensions of a torus in which both ways round are as long.
  [[nodiscard]] std::uint32_t count_of(const Torus& torus) const {
    std::uint32_t count = 1;
    std::uint32_t stride = 1;
    for (const int length : torus.sides) {
      const auto side = static_cast<std::uint32_t>(length);
      const std::uint32_t ahead = distance_ahead(stride, side);
      count *= ahead * 2 == side && side > 2 ? 2 : 1;
      stride *= side;
    }
    return count;
  }
  [[nodiscard]] Way route_of(const Torus& torus, std::uint32_t choice) const {
    Way route{at_.from_server};
    std::uint32_t at = at_.from_server;
    std::uint32_t stride = 1;
    for (const int length : torus.sides) {
      const auto side = static_cast<std::uint32_t>(length);
      const std::uint32_t ahead = distance_ahead(stride, side);
      bool forward = ahead * 2 <= side;
      if (ahead * 2 == side && side > 2) {
        forward = choice % 2 == 0;
        choice /= 2;
      }
      for (std::uint32_t step = forward ? ahead : side - ahead; step > 0 && ahead > 0; --step) {
        const std::uint32_t place = at / stride % side;
        const std::uint32_t next = (place + (forward ? 1 : side - 1)) % side;
        at = at - place * stride + next * stride;
        route.push_back(at);
      }
      stride *= side;
    }
    return route;
  }
  [[nodiscard]] std::uint32_t distance_ahead(std::uint32_t stride, std::uint32_t side) const {
    return (at_.to_server / stride % side + side - at_.from_server / stride % side) % side;
  }

  const RegularLayout& layout_;
  Entries at_;
  std::vector<std::array<std::uint32_t, 2>> carriers_;
};

NetworkRoutes network_routes(const RegularLayout& layout, std::uint32_t from, std::uint32_t to) {
  const std::uint32_t per_server = layout.gpus_per_server();
  const std::uint32_t s = from / per_server;
  const std::uint32_t t = to / per_server;
  const VertexId first = layout.bare() ? 0 : layout.network(0);
  const auto entry = [&](std::uint32_t server, std::uint32_t gpu) {
    return layout.entry(server, layout.nics() > 0 ? layout.nic_of_gpu(gpu) : 0) - first;
  };
  return {layout, {s, t, entry(s, from % per_server), entry(t, to % per_server)}};
}

}  // namespace

std::uint32_t route_count(const RegularLayout& layout, std::uint32_t from, std::uint32_t to) {
  const std::uint32_t per_server = layout.gpus_per_server();
  return from / per_server == to / per_server ? 1 : network_routes(layout, from, to).count();
}

std::vector<VertexId> route(const RegularLayout& layout, std::uint32_t from, std::uint32_t to,
                            std::uint32_t choice) {
  const std::uint32_t per_server = layout.gpus_per_server();
  const std::uint32_t s = from / per_server;
  const std::uint32_t t = to / per_server;
  if (from == to) {
    return {layout.gpu(s, from % per_server)};
  }
  if (s == t) {
    return inside(layout, s, from % per_server, to % per_server);
  }
  Way result = to_nic(layout, s, from % per_server);
  const VertexId first = layout.bare() ? 0 : layout.network(0);
  for (const std::uint32_t v : network_routes(layout, from, to).route(choice)) {
    result.push_back(first + v);
  }
  const Way down = to_nic(layout, t, to % per_server);
  result.insert(result.end(), down.rbegin(), down.rend());
  return result;
}

}  // namespace payoff::sim
