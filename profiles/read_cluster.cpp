// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "profiles/named_profile.hpp"
#include "profiles/node_ranges.hpp"
#include "profiles/read_hardware.hpp"

namespace payoff {
namespace {

constexpr std::array<std::pair<std::string_view, CpuVendor>, 4> cpus{{
    {"intel", CpuVendor::intel},
    {"amd", CpuVendor::amd},
    {"arm", CpuVendor::arm},
    {"power", CpuVendor::power},
}};

constexpr IntegerRules cores_of_a_node{.fallback = 1, .min = 1, .max = 65536};

constexpr RatioRules oversubscription{.fallback = 1.0, .min = 1.0, .max = 1000.0};

// Stands for the fabric of nodes of one GPU, and for the network of a single node.
constexpr std::string_view absent = "none";

// The parts of a cluster by their names. A missing name was reported already.
class Parts {
 public:
  Parts(const Section& root, const ReadContext& context, Facts& facts)
      : root_(root), context_(context), facts_(facts) {}

  void read(Cluster& cluster) {
    take("gpu", root_.required("gpu"), read_gpu, cluster.gpu);
    const Value fabric = root_.required("fabric");
    if (fabric.text() != absent) {
      take("fabric", fabric, read_fabric, cluster.fabric);
    }
    const Value network = root_.required("network");
    if (network.text() != absent) {
      take("network", network, read_network, cluster.network);
      read_nics(cluster);
    }
    check_fabric(fabric, cluster);
    take_way_through_host(cluster, context_, "", facts_);
  }

 private:
  template <class Read, class T>
  void take(std::string_view part, const Value& named, Read reading, T& value) {
    const std::string name = named.text();
    if (name.empty()) {
      return;
    }
    if (auto profile = reading(name, named.span(), context_)) {
      value = std::move(profile->value);
      add_below(part, profile->facts, facts_);
    }
  }

  void read_nics(Cluster& cluster) {
    cluster.nics_per_node = root_.required("nics_per_node").sourced().integer<int>(gpus_of_a_node);
    cluster.nic = sourced<Bandwidth>(root_.required("nic_bandwidth"));
  }

  static void check_fabric(const Value& named, const Cluster& cluster) {
    const Fabric& fabric = cluster.fabric;
    if (named.text() == absent && cluster.gpus_per_node > 1) {
      named.error("is `none`, but the GPUs of a node are joined by something", "",
                  "only nodes of 1 GPU have none");
    } else if (fabric.kind != FabricKind::none && cluster.gpus_per_node > fabric.max_gpus) {
      named.error("joins at most " + std::to_string(fabric.max_gpus) + " GPUs, the node has " +
                  std::to_string(cluster.gpus_per_node));
    }
  }

  const Section& root_;
  const ReadContext& context_;
  Facts& facts_;
};

}  // namespace

void take_way_through_host(Cluster& cluster, const ReadContext& context, const std::string& path,
                           Facts& facts) {
  if (!copies_through_host(cluster.gpu, cluster.fabric)) {
    return;
  }
  for (const std::string& name : context.library.names(ProfileKind::fabric)) {
    auto profile = read_fabric(name, std::nullopt, context);
    if (!profile || profile->value.twin != cluster.fabric.name) {
      continue;
    }
    std::erase_if(facts, [&](const Fact& fact) { return fact.path.starts_with(path + "fabric."); });
    add_below(path + "fabric", profile->facts, facts);
    facts.push_back(fact_in_words(
        path + "fabric", "`" + name + "` for `" + cluster.fabric.name + "`: cards of `" +
                             cluster.gpu.name + "` do not write to each other over PCI Express"));
    cluster.fabric = std::move(profile->value);
    return;
  }
}

std::optional<Profile<Cluster>> read_cluster(std::string_view name, std::optional<Span> asked,
                                             const ReadContext& context) {
  return read_profile<Cluster>(
      ProfileKind::cluster, name, asked, context,
      [&](const Section& root, Cluster& cluster, Facts& facts) {
        cluster.gpus_per_node =
            root.required("gpus_per_node").sourced().integer<int>(gpus_of_a_node);
        cluster.cpu = root.required("cpu").choice(cpus);
        cluster.price = root.optional("price").sourced().quantity<Price>(
            {.sign = Sign::positive, .range = &node_prices});
        if (const Section host = root.optional("host").section()) {
          cluster.host = {host.required("cores").sourced().integer<int>(cores_of_a_node),
                          sourced<Bandwidth>(host.optional("copy"))};
        }
        (void)root.optional("max_nodes").sourced().integer({.fallback = 1, .min = 1});
        (void)root.optional("oversubscription").sourced().ratio(oversubscription);
        Parts(root, context, facts).read(cluster);
      });
}

}  // namespace payoff
