// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_cluster_state.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "profiles/read_topology.hpp"

namespace payoff {
namespace {

constexpr IntegerRules any_gpu{.fallback = 0, .min = 0, .max = 1 << 20};

void read_topology_value(const Value& value, const Cluster& cluster, const ReadContext& context,
                         ClusterState& state, Problems& problems) {
  const std::size_t errors = context.diagnostics.error_count();
  if (!value.is_section()) {
    const std::string name = value.text();
    if (name.empty()) {
      return;
    }
    if (!is_own_file(name)) {
      value.error("is no file: `" + name + "`", "",
                  "name a topology file (examples/topologies/*.yaml), or write its keys here");
      return;
    }
    auto read = read_topology(own_file(name, value.span(), context.sources), context.sources,
                              context.diagnostics, &cluster);
    if (read) {
      state.topology = std::move(read->topology);
    }
  } else {
    ReadTopology read;
    read.topology.name = "of the experiment";
    read_topology_keys(value.section(), &cluster, read);
    state.topology = std::move(read.topology);
    if (context.diagnostics.error_count() == errors) {
      for (Problem& problem : check(*state.topology)) {
        problem.path = value.path() + "." + problem.path;
        problems.push_back(std::move(problem));
      }
    }
  }
}

// All GPUs of the topology are the cluster's, or the listed ones.
void check_gpus(const std::string& path, const Cluster& cluster, const ClusterState& state,
                Problems& problems) {
  const std::size_t gpus = state.topology->gpus();
  if (gpus != static_cast<std::size_t>(cluster.gpus())) {
    problems.push_back(
        {path,
         "has " + std::to_string(gpus) + " GPUs, the cluster " + std::to_string(cluster.gpus()),
         "leave out `server` and `servers` to take those of the cluster, or say with "
         "`cluster.on_gpus` which GPUs of a larger one it has"});
  }
}

void read_on_gpus(const Value& list, const Cluster& cluster, ClusterState& state,
                  Problems& problems) {
  std::set<int> taken;
  for (const Value& item : list.list()) {
    const int gpu = item.integer<int>(any_gpu);
    if (state.topology && static_cast<std::size_t>(gpu) >= state.topology->gpus()) {
      problems.push_back({item.path(),
                          "is " + std::to_string(gpu) + "; the topology has GPUs 0 to " +
                              std::to_string(state.topology->gpus() - 1),
                          {}});
    } else if (!taken.insert(gpu).second) {
      problems.push_back({item.path(), "is " + std::to_string(gpu) + " again", {}});
    }
    state.on_gpus.push_back(gpu);
  }
  if (!state.topology) {
    problems.push_back({list.path(), "needs a `cluster.topology` to be a part of", {}});
  } else if (!state.topology->rank_order.empty()) {
    problems.push_back({list.path(), "is an order of ranks, and so is the topology's `rank_order`",
                        "leave one of them out"});
  }
  if (state.on_gpus.size() != static_cast<std::size_t>(cluster.gpus())) {
    problems.push_back({list.path(),
                        "lists " + std::to_string(state.on_gpus.size()) +
                            " GPUs, the cluster has " + std::to_string(cluster.gpus()),
                        "`cluster.nodes` and `cluster.gpus_per_node` say how many"});
  }
}

void read_slow_gpus(const Value& list, const Cluster& cluster, ClusterState& state,
                    Problems& problems) {
  for (const Value& item : list.list()) {
    const Section section = item.section("{gpu: 17, slowdown: 1.3}");
    SlowGpu slow;
    slow.path = item.path();
    slow.gpu = section.required("gpu").integer<int>(any_gpu);
    slow.slowdown =
        section.required("slowdown").number({.fallback = 1.0, .min = 1.0, .max = 1000.0});
    if (slow.gpu >= cluster.gpus()) {
      problems.push_back({slow.path + ".gpu",
                          "is " + std::to_string(slow.gpu) + "; the cluster has GPUs 0 to " +
                              std::to_string(cluster.gpus() - 1),
                          {}});
    }
    state.slow_gpus.push_back(std::move(slow));
  }
}

}  // namespace

Problems read_cluster_state(const Section& section, const Cluster& cluster,
                            const ReadContext& context, ClusterState& state) {
  constexpr RatioRules deviation{.fallback = 0.0, .min = 0.0, .max = 1.0};
  Problems problems;
  const std::size_t errors = context.diagnostics.error_count();
  const Value topology = section.optional("topology");
  if (topology) {
    read_topology_value(topology, cluster, context, state, problems);
  }
  const bool sound = context.diagnostics.error_count() == errors && problems.empty();
  const Value on_gpus = section.optional("on_gpus");
  if (on_gpus && sound) {
    read_on_gpus(on_gpus, cluster, state, problems);
  } else if (state.topology && sound) {
    check_gpus(topology.path(), cluster, state, problems);
  }
  read_slow_gpus(section.optional("slow_gpus"), cluster, state, problems);
  if (const Value jitter = section.optional("jitter"); jitter.is_section()) {
    const Section keys = jitter.section();
    state.jitter.sd = keys.required("sd").ratio(deviation);
    state.jitter.seed =
        static_cast<std::uint64_t>(keys.optional("seed").integer({.fallback = 1, .min = 0}));
  } else {
    state.jitter.sd = jitter.ratio(deviation);
  }
  return problems;
}

}  // namespace payoff
