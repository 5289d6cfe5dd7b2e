// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_nodes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/node_kinds.hpp"
#include "profiles/experiment_keys.hpp"
#include "profiles/read_numbers.hpp"

namespace payoff {
namespace {

constexpr std::string_view key_of_kinds = "node_kinds";

// Nodes of one kind.
class NodesReader {
 public:
  NodesReader(const Section& section, const ReadContext& context)
      : section_(section), context_(context), path_(section.path() + ".") {}

  ReadNodes read() {
    for (const char* name : {"nic", "bandwidth", "nic_bandwidth"}) {
      section_.known_elsewhere_as(name, "inter.bandwidth");
    }
    section_.known_elsewhere_as("base", "profile");  // `cluster: NAME` with --set cluster.nodes
    read_profile();
    Cluster& cluster = result_.cluster;
    read_counts(cluster);
    if (const Value nics = section_.optional("nics_per_node")) {
      cluster.nics_per_node = read_nics(nics);
      forget("nics_per_node");
    }
    read_host(section_.optional("host").section(), cluster.host);
    const Section inter = section_.optional("inter").section();
    if (const Value rate = inter.optional("bandwidth")) {
      cluster.nic = read_nic_rate(rate, cluster.nic);
      forget("nic_bandwidth");
    }
    const Value latency = inter.optional("latency");
    const Value fabric_rate = section_.optional("intra").section().optional("bandwidth");
    replace_parts(cluster);
    // Over what another fabric or network brings.
    if (fabric_rate) {
      cluster.fabric.per_gpu = read_fabric_rate(fabric_rate, cluster.fabric.per_gpu);
      forget("fabric.bandwidth");
    }
    if (latency) {
      lengthen_steps(cluster.network,
                     latency.quantity<Seconds>({.fallback = 0_s, .range = &way_latencies}));
    }
    return std::move(result_);
  }

 private:
  // Of a part that replaces the cluster's own.
  void take_instead(const std::string& part, const Facts& facts) {
    const std::string path = path_ + part;
    std::erase_if(result_.facts, [&](const Fact& fact) {
      return fact.path == path || fact.path.starts_with(path + ".");
    });
    add_below(path, facts, result_.facts);
  }

  // Of a number that the user states instead of the profile's.
  void forget(std::string_view key) {
    std::erase_if(result_.facts,
                  [&](const Fact& fact) { return fact.path == path_ + std::string(key); });
  }

  void read_profile() {
    const Value profile = section_.required("profile");
    const std::string name = profile.text();
    if (auto read =
            name.empty() ? std::nullopt : payoff::read_cluster(name, profile.span(), context_)) {
      result_.cluster = std::move(read->value);
      add_below(section_.path(), read->facts, result_.facts);
      result_.gpu = gpu_of_cluster(name, profile.span(), context_);
    }
  }

  void read_counts(Cluster& cluster) {
    const Value nodes = section_.optional("nodes");
    const std::size_t errors = context_.diagnostics.error_count();
    cluster.nodes = payoff::read_nodes(nodes);
    if (const Value gpus = section_.optional("gpus_per_node")) {
      cluster.gpus_per_node = gpus.integer<int>({.fallback = 1, .min = 1, .max = 1024});
      forget("gpus_per_node");
    }
    if (cluster.name.empty()) {
      return;  // which was reported
    }
    if (const auto gpus = std::int64_t{cluster.nodes} * cluster.gpus_per_node; gpus > most_ranks) {
      nodes.error("makes " + std::to_string(gpus) + " GPUs; at most " + std::to_string(most_ranks) +
                  " are modelled");
    }
    result_.sound_counts = context_.diagnostics.error_count() == errors;
  }

  // What its cores and copies are, where the profile does not say or says otherwise.
  void read_host(const Section& section, Host& host) {
    if (const Value cores = section.optional("cores")) {
      host.cores = cores.integer<int>({.fallback = 1, .min = 1, .max = 65536});
      forget("host.cores");
    }
    if (const Value copy = section.optional("copy")) {
      host.copy = copy.quantity<Bandwidth>({.fallback = {}, .sign = Sign::positive});
      forget("host.copy");
    }
  }

  // The law's own steps have the way through one building in them.
  static void lengthen_steps(Network& network, Seconds way) {
    LinkLaw& law = network.law;
    for (Seconds* step : {&law.step_ll, &law.step_ll128, &law.step_simple}) {
      *step += way;
    }
    if (network.eager) {
      law.rendezvous += 2 * way;  // a request and its answer
    }
  }

  void replace_parts(Cluster& cluster) {
    // What is no text was reported as such.
    const auto named = [&](const Value& value, const auto& read) {
      const std::string name = value.text();
      return name.empty() ? std::nullopt : read(name, value.span(), context_);
    };
    if (const Value gpu = section_.optional("gpu")) {
      if (auto read = named(gpu, read_gpu)) {
        cluster.gpu = std::move(read->value);
        take_instead("gpu", read->facts);
        result_.gpu = NamedPart{gpu.text(), gpu.span()};
      }
    }
    if (const Value fabric = section_.optional("fabric")) {
      if (auto read = named(fabric, read_fabric)) {
        cluster.fabric = std::move(read->value);
        take_instead("fabric", read->facts);
      }
    }
    if (const Value network = section_.optional("network")) {
      if (auto read = named(network, read_network)) {
        cluster.network = std::move(read->value);
        take_instead("network", read->facts);
      }
    }
    take_way_through_host(cluster, context_, path_, result_.facts);
  }

  const Section& section_;
  const ReadContext& context_;
  std::string path_;
  ReadNodes result_;
};

// What each kind says, or what is not modelled beside kinds.
void refuse_beside_kinds(const Section& section) {
  for (const char* key : {"profile", "nodes", "gpus_per_node", "nics_per_node", "host", "inter",
                          "intra", "gpu", "fabric", "network"}) {
    if (section.has(key)) {
      section.optional(key).error("stands beside `node_kinds`", "",
                                  "say it of the kinds: `node_kinds: [{profile: NAME, nodes: N}]`");
    }
  }
  for (const char* key : {"slow_gpus", "jitter", "on_gpus", "topology"}) {
    if (section.has(key)) {
      section.optional(key).error("is not modelled for nodes of several kinds", "",
                                  "leave it out, or describe nodes that are alike");
    }
  }
}

// "dgx-a100 + dgx-h100".
std::string together(const std::vector<Cluster>& kinds) {
  std::vector<std::string> names;
  for (const Cluster& kind : kinds) {
    if (std::find(names.begin(), names.end(), kind.name) == names.end()) {
      names.push_back(kind.name);
    }
  }
  std::string all;
  for (const std::string& name : names) {
    all += (all.empty() ? "" : " + ") + name;
  }
  return all;
}

Cluster joined(std::vector<Cluster> kinds) {
  Cluster cluster = kinds.front();
  if (kinds.size() == 1) {
    return cluster;
  }
  cluster.name = together(kinds);
  cluster.nodes = 0;
  double price = 0;
  bool priced = true;
  for (const Cluster& kind : kinds) {
    cluster.nodes += kind.nodes;
    price += kind.price.si * kind.nodes;
    priced = priced && kind.price > Price{};
  }
  cluster.price = priced ? Price{price / cluster.nodes} : Price{};
  cluster.kinds = std::move(kinds);
  return cluster;
}

ReadNodes read_kinds(const Section& section, const Value& list, const ReadContext& context) {
  refuse_beside_kinds(section);
  ReadNodes all;
  all.sound_counts = true;
  std::vector<Cluster> kinds;
  std::int64_t gpus = 0;
  for (const Value& item : list.list()) {
    const Section kind = item.section("{profile: dgx-a100, nodes: 4}");
    ReadNodes read = NodesReader(kind, context).read();
    all.sound_counts = all.sound_counts && read.sound_counts;
    all.facts.insert(all.facts.end(), std::make_move_iterator(read.facts.begin()),
                     std::make_move_iterator(read.facts.end()));
    const bool same = kinds.empty() || (all.gpu && kinds.front().gpu.name == read.cluster.gpu.name);
    all.gpu = same ? read.gpu : std::nullopt;
    gpus += std::int64_t{read.cluster.nodes} * read.cluster.gpus_per_node;
    kinds.push_back(std::move(read.cluster));
  }
  if (kinds.empty()) {
    list.error("names no nodes", "", "for example `[{profile: dgx-a100, nodes: 4}]`");
    return {};
  }
  if (gpus > most_ranks) {
    list.error("make " + std::to_string(gpus) + " GPUs; at most " + std::to_string(most_ranks) +
               " are modelled");
    all.sound_counts = false;
  }
  const bool named = std::all_of(kinds.begin(), kinds.end(),
                                 [](const Cluster& kind) { return !kind.name.empty(); });
  all.sound_counts = all.sound_counts && named;
  if (all.sound_counts) {
    all.cluster = joined(std::move(kinds));
  }
  return all;
}

}  // namespace

ReadNodes read_experiment_nodes(const Section& section, const ReadContext& context) {
  if (section.has(key_of_kinds)) {
    return read_kinds(section, section.optional(key_of_kinds), context);
  }
  ReadNodes nodes = NodesReader(section, context).read();
  (void)section.optional(key_of_kinds);  // a key that there is, after the usual ones
  return nodes;
}

const Gpu& oldest_gpu(const Cluster& cluster) {
  const auto kinds = each_kind(cluster);
  return std::min_element(kinds.begin(), kinds.end(),
                          [](const Cluster& a, const Cluster& b) {
                            return a.gpu.architecture < b.gpu.architecture;
                          })
      ->gpu;
}

}  // namespace payoff
