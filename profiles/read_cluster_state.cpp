// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_cluster_state.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "model/cube_part.hpp"
#include "profiles/check_topology.hpp"
#include "profiles/positions.hpp"

namespace payoff {
namespace {

constexpr IntegerRules any_gpu{.fallback = 0, .min = 0, .max = 1 << 20};

constexpr const char* topology_path = "cluster.topology";
constexpr const char* on_gpus_path = "cluster.on_gpus";

void read_topology_value(const Value& value, const Cluster& cluster, const ReadContext& context,
                         ReadClusterState& read) {
  if (value.is_section()) {
    read.topology.emplace();
    read.topology->topology.name = "of the experiment";
    read_topology_keys(value.section(), &cluster, *read.topology);
    return;
  }
  const std::string name = value.text();
  if (name.empty()) {
    return;
  }
  if (!is_own_file(name)) {
    value.error("is no file: `" + name + "`", "",
                "name a topology file (examples/topologies/*.yaml), or write its keys here");
    return;
  }
  try {
    read.topology = read_topology(own_file(name, value.span(), context.sources), context.sources,
                                  context.diagnostics, &cluster);
    read.topology_is_file = true;
  } catch (const std::runtime_error& error) {  // it cannot be read
    context.diagnostics.error(value.span(), error.what());
  }
}

void read_on_gpus(const Value& list, ReadClusterState& read) {
  for (const Value& item : list.list()) {
    read.state.on_gpus.push_back(item.integer<int>(any_gpu));
  }
}

void read_slow_gpus(const Value& list, ClusterState& state) {
  for (const Value& item : list.list()) {
    const Section section = item.section("{gpu: 17, slowdown: 1.3}");
    SlowGpu slow;
    slow.path = item.path();
    slow.gpu = section.required("gpu").integer<int>(any_gpu);
    slow.slowdown =
        section.required("slowdown").number({.fallback = 1.0, .min = 1.0, .max = 1000.0});
    state.slow_gpus.push_back(std::move(slow));
  }
}

// GPUs that are there, each of them once; how many there are is known or not.
void check_slow_gpus(const ClusterState& state, const std::optional<int>& gpus,
                     const Reader& reader, Problems& problems) {
  std::set<int> taken;
  for (const SlowGpu& slow : state.slow_gpus) {
    const std::vector<std::string> refused = reader.refused(slow.path);
    if (std::find(refused.begin(), refused.end(), "gpu") != refused.end()) {
      continue;
    }
    if (gpus && slow.gpu >= *gpus) {
      problems.push_back({slow.path + ".gpu",
                          "is " + std::to_string(slow.gpu) + "; the cluster has GPUs 0 to " +
                              std::to_string(*gpus - 1),
                          {}});
    } else if (!taken.insert(slow.gpu).second) {
      problems.push_back({slow.path + ".gpu", "is " + std::to_string(slow.gpu) + " again",
                          "a GPU has one slowdown: write it once"});
    }
  }
}

// The GPUs of the topology that the cluster has, each once.
void check_on_gpus(const ReadClusterState& read, const Topology& topology, Problems& problems) {
  const std::vector<int>& listed = read.state.on_gpus;
  std::set<int> taken;
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const std::string path = std::string(on_gpus_path) + "[" + std::to_string(i) + "]";
    if (static_cast<std::size_t>(listed[i]) >= topology.gpus()) {
      problems.push_back({path,
                          "is " + std::to_string(listed[i]) + "; the topology has GPUs 0 to " +
                              std::to_string(topology.gpus() - 1),
                          {}});
    } else if (!taken.insert(listed[i]).second) {
      problems.push_back({path, "is " + std::to_string(listed[i]) + " again", {}});
    }
  }
}

// Which part of the topology the cluster is: all of it, or the listed GPUs.
void check_part(const ReadClusterState& read, const ReadTopology& topology, const Cluster& cluster,
                Problems& problems) {
  const std::size_t gpus = topology.topology.gpus();
  if (read.is_part) {
    check_on_gpus(read, topology.topology, problems);
  } else if (gpus != static_cast<std::size_t>(cluster.gpus())) {
    problems.push_back(
        {topology_path,
         "has " + std::to_string(gpus) + " GPUs, the cluster " + std::to_string(cluster.gpus()),
         "leave out `server` and `servers` to take those of the cluster, or say with "
         "`cluster.on_gpus` which GPUs of a larger one it has"});
  }
}

void check_count_of_part(const ReadClusterState& read, const Cluster& cluster, bool cluster_is_read,
                         Problems& problems) {
  if (!read.topology) {
    problems.push_back({on_gpus_path, "needs a `cluster.topology` to be a part of", {}});
  } else if (!read.topology->topology.rank_order.empty()) {
    problems.push_back({on_gpus_path,
                        "says which GPU every rank is on, and so does the topology's `rank_order`",
                        "leave out `rank_order`, and list the GPUs here in the order of the "
                        "ranks that they shall have"});
  }
  if (cluster_is_read && read.state.on_gpus.size() != static_cast<std::size_t>(cluster.gpus())) {
    problems.push_back({on_gpus_path,
                        "lists " + std::to_string(read.state.on_gpus.size()) +
                            " GPUs, the cluster has " + std::to_string(cluster.gpus()),
                        "`cluster.nodes` and `cluster.gpus_per_node` say how many"});
  }
}

// Below the section of the experiment, whose reader knows what was refused there.
ReadTopology with_what_was_refused(const ReadClusterState& read, const Reader& reader) {
  ReadTopology topology = *read.topology;
  if (!read.topology_is_file) {
    topology.refused = reader.refused(topology_path);
  }
  return topology;
}

void check_topology(const ReadClusterState& read, const Cluster& cluster, bool cluster_is_read,
                    const Reader& reader, const ReadContext& context, Problems& problems) {
  const ReadTopology topology = with_what_was_refused(read, reader);
  Problems found = check(topology, cluster_is_read, context.find_in_links);
  const bool part_is_read = reader.refused(on_gpus_path).empty();
  if (cluster_is_read && part_is_read && knows_gpus(topology, cluster_is_read)) {
    check_part(read, topology, cluster, problems);
  }
  if (read.topology_is_file) {
    report(found, topology.positions, context.diagnostics);
    return;
  }
  for (Problem& problem : found) {
    problem.path = topology_path + (problem.path.empty() ? "" : "." + problem.path);
    problems.push_back(std::move(problem));
  }
}

}  // namespace

ReadClusterState read_cluster_state(const Section& section, const Cluster& cluster,
                                    const ReadContext& context) {
  constexpr RatioRules deviation{.fallback = 0.0, .min = 0.0, .max = 1.0};
  ReadClusterState read;
  if (const Value topology = section.optional("topology")) {
    read_topology_value(topology, cluster, context, read);
  }
  if (read.topology) {
    read.state.topology = read.topology->topology;
  }
  if (const Value on_gpus = section.optional("on_gpus")) {
    read.is_part = true;
    read_on_gpus(on_gpus, read);
  }
  read_slow_gpus(section.optional("slow_gpus"), read.state);
  Jitter& of_all = read.state.jitter;
  if (const Value jitter = section.optional("jitter"); jitter.is_section()) {
    const Section keys = jitter.section();
    of_all.sd = keys.required("sd").ratio(deviation);
    of_all.seed =
        static_cast<std::uint64_t>(keys.optional("seed").integer({.fallback = 1, .min = 0}));
  } else {
    of_all.sd = jitter.ratio(deviation);
  }
  return read;
}

void place_in_cube(const ClusterState& state, Cluster& cluster) {
  if (!state.topology) {
    return;
  }
  const std::vector<int>& gpus = state.on_gpus.empty() ? state.topology->rank_order : state.on_gpus;
  if (!gpus.empty()) {
    cluster.fabric.parts =
        cube_parts_of(cluster.fabric, *state.topology, gpus, cluster.gpus_per_node);
  }
}

Problems check(const ReadClusterState& read, const Cluster& cluster, bool cluster_is_read,
               const Reader& reader, const ReadContext& context) {
  Problems problems;
  check_slow_gpus(read.state, cluster_is_read ? std::optional(cluster.gpus()) : std::nullopt,
                  reader, problems);
  if (read.is_part) {
    check_count_of_part(read, cluster, cluster_is_read, problems);
  }
  if (read.topology) {
    check_topology(read, cluster, cluster_is_read, reader, context, problems);
  }
  return problems;
}

}  // namespace payoff
