// SPDX-License-Identifier: Apache-2.0
#include "model/experiment_check.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "model/activation_check.hpp"
#include "model/append_problems.hpp"
#include "model/bucket_check.hpp"
#include "model/compression_effect.hpp"
#include "model/division_check.hpp"
#include "model/groups.hpp"
#include "model/host_codec.hpp"
#include "model/layer_division.hpp"
#include "model/method_on_graph.hpp"
#include "model/node_kinds.hpp"
#include "model/sharded_check.hpp"

namespace payoff {
namespace {

// One cause, one problem: kinds of nodes often have the same.
void append_new(Problems& problems, Problems more) {
  for (Problem& problem : more) {
    const bool known = std::any_of(problems.begin(), problems.end(), [&](const Problem& other) {
      return other.path == problem.path && other.message == problem.message;
    });
    if (!known) {
      problems.push_back(std::move(problem));
    }
  }
}

int blocks_of(const Experiment& experiment) {
  const auto* shape = std::get_if<TransformerShape>(&experiment.model);
  return shape != nullptr ? static_cast<int>(block_count(*shape)) : 1;
}

// A model that is not known has the layers that its pipeline wants.
int enough_layers(const ParallelLayout& layout) {
  return layout.stage_layers.empty()
             ? std::max(layout.pp, part_count(layout))
             : std::accumulate(layout.stage_layers.begin(), layout.stage_layers.end(), 0);
}

// What `check_layout` is asked about: without experts nothing follows from a number of ranks for
// them.
ParallelLayout asked_of_ranks(const Experiment& experiment, bool sound_model) {
  ParallelLayout layout = experiment.layout;
  const auto* shape = std::get_if<TransformerShape>(&experiment.model);
  if (sound_model && (shape == nullptr || shape->experts.count == 0)) {
    layout.ep = std::min(layout.ep, 1);
    layout.etp = std::min(layout.etp, 1);
  }
  return layout;
}

// One cause, one problem: with a single replica there is nothing to compress for any strategy.
void check_replicas(const Experiment& experiment, Problems& problems) {
  std::string labels;
  for (std::size_t i = 1; i < experiment.plans.size(); ++i) {
    if (experiment.plans[i].method) {
      labels += (labels.empty() ? "`" : ", `") + experiment.plans[i].label + "`";
    }
  }
  if (experiment.layout.data_ranks() == 1 && !labels.empty()) {
    problems.push_back({"compress",
                        "dp is 1: no gradients are sent that could be compressed by " + labels,
                        "give the job more GPUs than one replica needs, or compare no strategies"});
  }
}

// Refused by NCCL at run time; never priced as if it ran.
Problems check_reduction(const CompressionPlan& plan, const Gpu& gpu, const std::string& path) {
  Problems problems;
  for (const Method* method : plan.methods()) {
    if (method->reduces_from && gpu.architecture < *method->reduces_from) {
      problems.push_back({path,
                          "`" + plan.label + "` adds numbers on the way that NCCL adds from " +
                              std::string(name(*method->reduces_from)) + " on, and " + gpu.name +
                              " is older",
                          "use a method that exchanges them (all-to-all, all-gather) and adds them "
                          "on the GPU"});
    }
  }
  return problems;
}

// Cores and slots of nodes of several kinds are not modelled.
void check_mixed_hosts(const CompressionPlan& plan, const std::string& path, Problems& problems) {
  const auto methods = plan.methods();
  if (std::any_of(methods.begin(), methods.end(),
                  [](const Method* method) { return method->host.has_value(); })) {
    problems.push_back({path,
                        "`" + plan.label +
                            "` runs on the host, and the nodes are of several kinds: that is not "
                            "modelled",
                        "use a method that runs on the GPU"});
  }
}

void check_in_network(const CompressionPlan& plan, const ParallelLayout& layout,
                      const std::string& path, Problems& problems) {
  const auto methods = plan.gradient_methods();
  if (layout.dp_collective != AllReduceBy::nccl &&
      std::any_of(methods.begin(), methods.end(),
                  [](const Method* method) { return method->in_network; })) {
    problems.push_back({path,
                        "`" + plan.label + "` has its sums made in the network, and " +
                            std::string(name(layout.dp_collective)) + " cannot make them instead",
                        "leave layout.dp_collective out"});
  }
}

void check_plans(const Experiment& experiment, bool sound_cluster, Problems& problems) {
  const Bytes weight = weight_size(experiment.training.precision, experiment.software.fp8_weights);
  for (std::size_t i = 1; i < experiment.plans.size(); ++i) {
    const CompressionPlan& plan = experiment.plans[i];
    const std::string path = "compress." + std::to_string(i - 1);
    append(problems, check_activations(plan, experiment.layout, path));
    append(problems, check_sharded(plan, experiment.layout, weight, path));
    check_in_network(plan, experiment.layout, path, problems);
    if (experiment.cluster.is_mixed()) {
      check_mixed_hosts(plan, path, problems);
    } else {
      append(problems, check_host(plan, experiment.cluster, experiment.layout, path));
    }
    for (const Cluster& nodes : each_kind(experiment.cluster)) {
      append_new(problems, sound_cluster ? check_reduction(plan, nodes.gpu, path) : Problems{});
    }
  }
  check_replicas(experiment, problems);
}

void check_effects(const Experiment& experiment, const Group& group, Problems& problems) {
  const auto workload = workload_of(experiment);
  const Bytes element = element_size(experiment.training.gradient);
  for (std::size_t i = 1; i < experiment.plans.size(); ++i) {
    const std::string path = "compress." + std::to_string(i - 1);
    for (Problem& problem : check_effect(experiment.plans[i], *workload, element,
                                         {group.ranks, group.ranks_per_node})) {
      problem.path = path;
      problems.push_back(std::move(problem));
    }
    for (Problem& problem : check_amounts(experiment.plans[i], *workload, element,
                                          {group.ranks, group.ranks_per_node})) {
      problem.path = path;
      problems.push_back(std::move(problem));
    }
    append(problems, check_graphs(experiment.plans[i], {group.ranks, group.ranks_per_node}, path));
    append(problems, check_activation_effect(
                         experiment.plans[i], *workload, experiment.layout,
                         activation_size(experiment.training.precision),
                         tensor_group(experiment.layout, experiment.cluster.gpus_per_node), path));
  }
}

// Who talks to whom, on nodes of one kind.
Problems check_groups(const Cluster& nodes, const ParallelLayout& layout) {
  const int node = nodes.gpus_per_node;
  Problems problems = check_group(nodes, tensor_group(layout, node));
  append(problems, check_group(nodes, data_group(layout, node)));
  if (layout.expert_ranks() > 1) {
    append(problems, check_group(nodes, expert_tensor_group(layout, node)));
    append(problems, check_group(nodes, expert_group(layout, node)));
    append(problems, check_group(nodes, expert_data_group(layout, node)));
  }
  if (layout.shard > 0) {
    append(problems, check_group(nodes, shard_group(layout, node)));
    append(problems, check_group(nodes, replica_group(layout, node)));
  }
  if (layout.shard > 0 && layout.expert_ranks() > 1) {
    append(problems, check_group(nodes, expert_shard_group(layout, node)));
    append(problems, check_group(nodes, expert_replica_group(layout, node)));
  }
  return problems;
}

// What each part and the combinations of two have wrong, before anything is built of them.
Problems check_parts(const Experiment& experiment, const SoundParts& sound) {
  Problems problems;
  const ParallelLayout& layout = experiment.layout;
  if (sound.layout && sound.gpus) {
    append(problems, check_layout(asked_of_ranks(experiment, sound.model), experiment.cluster,
                                  sound.model ? blocks_of(experiment) : enough_layers(layout)));
  }
  if (sound.layout && sound.model && layout.tp > 0) {
    check_division(experiment, problems);
    append(problems, check_layer_times(experiment.layer_times, layout));
  }
  if (sound.cluster && sound.gpus) {
    append(problems, check_node_kinds(experiment.cluster));
  }
  for (const Cluster& nodes : each_kind(experiment.cluster)) {
    if (sound.cluster && sound.training) {
      append_new(problems, check_precision(nodes.gpu, experiment.training.precision));
    }
  }
  if (sound.layout && sound.plans) {
    check_plans(experiment, sound.cluster, problems);
  }
  return problems;
}

// What stands whatever the layout was meant to be.
Problems with_meant_layouts(const Experiment& experiment, const SoundParts& sound) {
  Experiment meant = experiment;
  SoundParts as_if = sound;
  as_if.layout = true;
  std::optional<Problems> common;
  for (const ParallelLayout& layout : sound.meant_layouts) {
    meant.layout = layout;
    const Problems problems = check_parts(meant, as_if);
    if (!common) {
      common = problems;
    }
    std::erase_if(*common, [&](const Problem& one) {
      return std::none_of(problems.begin(), problems.end(), [&](const Problem& other) {
        return other.path == one.path && other.message == one.message;
      });
    });
  }
  return common.value_or(Problems{});
}

}  // namespace

Problems check(const Experiment& experiment, const SoundParts& sound) {
  if (!sound.layout && !sound.meant_layouts.empty()) {
    return with_meant_layouts(experiment, sound);
  }
  Problems problems = check_parts(experiment, sound);
  const ParallelLayout& layout = experiment.layout;
  if (problems.empty() && sound.layout && sound.cluster) {
    const int node = experiment.cluster.gpus_per_node;
    for (const Cluster& nodes : each_kind(experiment.cluster)) {
      append_new(problems, check_groups(nodes, layout));
    }
    if (sound.model && sound.training && sound.plans) {
      check_effects(experiment, data_group(layout, node), problems);
    }
  }
  const bool all_sound =
      sound.layout && sound.cluster && sound.gpus && sound.model && sound.training && sound.plans;
  if (problems.empty() && all_sound) {
    append(problems, check_buckets(experiment));
  }
  return problems;
}

Problems check(const Experiment& experiment) { return check(experiment, {}); }

}  // namespace payoff
