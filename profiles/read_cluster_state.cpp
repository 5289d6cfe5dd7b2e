// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_cluster_state.hpp"

#include <cstddef>
#include <cstdint>
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
  if (state.topology && context.diagnostics.error_count() == errors && problems.empty() &&
      state.topology->gpus() != static_cast<std::size_t>(cluster.gpus())) {
    problems.push_back({value.path(),
                        "has " + std::to_string(state.topology->gpus()) + " GPUs, the cluster " +
                            std::to_string(cluster.gpus()),
                        "leave out `server` and `servers` to take those of the cluster"});
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
  if (const Value topology = section.optional("topology")) {
    read_topology_value(topology, cluster, context, state, problems);
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
