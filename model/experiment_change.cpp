// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <vector>

#include "model/experiment.hpp"
#include "model/groups.hpp"
#include "model/job_numbers.hpp"

// A prepared job with other numbers. Each part is derived again from what it is derived from, by
// the functions that derived it first, or kept where nothing of that differs.

namespace payoff {

JobNumbers numbers_of(const Experiment& experiment) {
  const Cluster& cluster = experiment.cluster;
  const ParallelLayout& layout = experiment.layout;
  return {cluster.nodes,
          cluster.nics_per_node,
          cluster.nic,
          cluster.fabric.per_gpu,
          layout.dp,
          layout.micro_batch,
          layout.micro_batches,
          experiment.training.bucket,
          experiment.training.first_bucket};
}

void set_numbers(const JobNumbers& numbers, Experiment& experiment) {
  Cluster& cluster = experiment.cluster;
  for (Cluster& kind : cluster.kinds) {  // what differs is then so of all kinds
    kind.nics_per_node =
        numbers.nics_per_node != cluster.nics_per_node ? numbers.nics_per_node : kind.nics_per_node;
    kind.nic = numbers.nic != cluster.nic ? numbers.nic : kind.nic;
    kind.fabric.per_gpu =
        numbers.fabric != cluster.fabric.per_gpu ? numbers.fabric : kind.fabric.per_gpu;
  }
  cluster.nodes = numbers.nodes;
  cluster.nics_per_node = numbers.nics_per_node;
  cluster.nic = numbers.nic;
  cluster.fabric.per_gpu = numbers.fabric;
  experiment.layout.dp = numbers.dp;
  experiment.layout.micro_batch = numbers.micro_batch;
  experiment.layout.micro_batches = numbers.micro_batches;
  experiment.training.bucket = numbers.bucket;
  experiment.training.first_bucket = numbers.first_bucket;
}

// Of a cluster a model of collectives knows the links of its group; nothing else of it changes.
bool PreparedExperiment::renew(CollectiveModel& network, MessageKind kind) const {
  if (experiment_.cluster.is_mixed()) {
    network = network_of(kind);
    return true;
  }
  return renew(network, group_of(kind, experiment_.layout, experiment_.cluster.gpus_per_node));
}

bool PreparedExperiment::renew(CollectiveModel& network, const Group& group) const {
  const bool mixed = experiment_.cluster.is_mixed();  // it knows the paths of one kind only
  if (!mixed && group == network.group() &&
      paths_of(experiment_.cluster, group) == network.paths()) {
    return false;
  }
  const CollectiveModel* known = known_network(group);
  network = known != nullptr ? *known : network_of(group);
  return true;
}

// Groups of gradients are often the same, and those of a pipeline's sends too: a model of links is
// made once for all of them. Of several kinds of nodes a network may know some kinds only.
const CollectiveModel* PreparedExperiment::known_network(const Group& group) const {
  if (experiment_.cluster.is_mixed()) {
    return nullptr;
  }
  const GroupPaths paths = paths_of(experiment_.cluster, group);
  for (const CollectiveModel* network :
       {&data_network_, &in_node_network_, &across_network_, &expert_data_network_}) {
    if (network->group() == group && network->paths() == paths) {
      return network;
    }
  }
  return nullptr;
}

bool PreparedExperiment::renew_stage_networks() {
  const bool tensor = renew(tensor_network_, MessageKind::tp_activations);
  const bool context = renew(context_network_, MessageKind::cp_activations);
  const bool experts = renew(expert_network_, MessageKind::ep_activations);
  const bool expert_tensor = renew(expert_tensor_network_, MessageKind::etp_activations);
  // Others have no use for it.
  const bool tables =
      workload_->recommender && renew(table_network_, MessageKind::table_activations);
  return tensor || context || experts || expert_tensor || tables;
}

// Without experts all gradients are summed by the same ranks.
bool PreparedExperiment::renew_gradient_networks() {
  const bool data = renew(data_network_, MessageKind::dp_gradients);
  const bool in_node = renew(in_node_network_, part_in_node(data_network_.group()));
  const bool across = renew(across_network_, part_across_nodes(data_network_.group()));
  const bool replicas = renew(replica_network_, MessageKind::dp_replicas);
  const bool alike = group_of(MessageKind::ep_gradients, experiment_.layout,
                              experiment_.cluster.gpus_per_node) == data_network_.group();
  if (alike && data) {
    expert_data_network_ = data_network_;
  }
  const bool experts = renew(expert_data_network_, MessageKind::ep_gradients);
  const bool expert_replicas = renew(expert_replica_network_, MessageKind::ep_replicas);
  return data || in_node || across || replicas || experts || expert_replicas;
}

// Buckets hold what several ranks sum; units of sharded weights depend on all of the layout.
bool PreparedExperiment::cuts_alike(const JobNumbers& before) const {
  const JobNumbers now = numbers_of(experiment_);
  ParallelLayout layout = experiment_.layout;
  layout.dp = before.dp;
  const bool same_buckets = now.bucket == before.bucket && now.first_bucket == before.first_bucket;
  const bool same_steps = now.dp == before.dp && now.micro_batches == before.micro_batches;
  return same_buckets && (layout.zero < 3 || same_steps) &&
         (layout.data_ranks() > 1) == (experiment_.layout.data_ranks() > 1) &&
         (layout.expert_replicas() > 1) == (experiment_.layout.expert_replicas() > 1);
}

void PreparedExperiment::change(const JobNumbers& numbers) {
  const bool differs = !(numbers == numbers_of(experiment_));
  change_as_one(numbers);
  if (differs && !parts_.empty()) {
    prepare_parts();
  }
}

void PreparedExperiment::change_as_one(const JobNumbers& numbers) {
  const JobNumbers before = numbers_of(experiment_);
  if (numbers == before) {
    return;
  }
  set_numbers(numbers, experiment_);
  const bool other_gradients = renew_gradient_networks();
  const bool other_tables = workload_->recommender && numbers.dp != before.dp;
  if (other_tables) {
    workload_ = workload_of(experiment_);
  }
  if (renew_stage_networks() || other_tables || numbers.micro_batch != before.micro_batch) {
    prepare_stages();
    ends_ = pipeline_ends(unpriced({}, stages_, waves_), &programs_);
    return;
  }
  const bool other_steps = numbers.micro_batches != before.micro_batches;
  const bool other_ranks = numbers.dp != before.dp;
  const bool recut = !cuts_alike(before);
  if (recut) {
    kinds_ = {};
    weights_ = {};
  }
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    if (other_gradients || other_ranks || other_steps) {
      plan_update(stages_[s]);
    }
    if (recut) {
      cut_gradients(stages_, s, kinds_, weights_);
    }
    if (recut || other_ranks || other_steps) {
      stages_[s].memory = memory_without_codec(s);
    }
  }
  plan_sends();
  plan_tied_sum();
  if (other_steps || stages_.size() > 1) {
    ends_ = pipeline_ends(unpriced({}, stages_, waves_), &programs_);
  }
}

CollectiveModel PreparedExperiment::network_of(const Group& group) const {
  CollectiveModel network(experiment_.cluster, group);
  network.pin(pin_);
  return network;
}

// Of those that take part in its collectives. A group inside a node is on one kind of node.
CollectiveModel PreparedExperiment::network_of(MessageKind kind) const {
  const Group group = group_of(kind, experiment_.layout, experiment_.cluster.gpus_per_node);
  if (!experiment_.cluster.is_mixed() || group.ranks > group.ranks_per_node) {
    return network_of(group);
  }
  CollectiveModel network(own_nodes(), group);
  network.pin(pin_);
  return network;
}

// With the GPUs that this job computes on.
Cluster PreparedExperiment::own_nodes() const {
  Cluster nodes = experiment_.cluster;
  nodes.kinds.clear();
  return nodes;
}

Message PreparedExperiment::boundary_message(const CollectiveModel& network, Bytes size) {
  return priced_message(MessageKind::pp_activations, network, Collective::send_recv, size);
}

Message PreparedExperiment::boundary_message(std::size_t stage, Bytes size) const {
  const Group group = boundary_group(experiment_.layout, experiment_.cluster.gpus_per_node,
                                     static_cast<int>(stage));
  return boundary_message(network_of(group), size);
}

// Over each boundary the activations after the stage before it, both ways. Boundaries are inside a
// node or between two: two networks.
void PreparedExperiment::plan_sends() {
  if (experiment_.layout.pp == 1) {
    return;
  }
  std::vector<CollectiveModel> networks;
  const auto message = [&](std::size_t stage, Bytes size) {
    const Group group = boundary_group(experiment_.layout, experiment_.cluster.gpus_per_node,
                                       static_cast<int>(stage));
    if (const CollectiveModel* gradients = known_network(group)) {
      return boundary_message(*gradients, size);
    }
    const auto known =
        std::find_if(networks.begin(), networks.end(),
                     [&](const CollectiveModel& network) { return network.group() == group; });
    return boundary_message(
        known != networks.end() ? *known : networks.emplace_back(network_of(group)), size);
  };
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    Stage& stage = stages_[s];
    stage.send_forward = message(s, stage.boundary);
    stage.send_backward = message((s + stages_.size() - 1) % stages_.size(), stage.boundary);
  }
}

// Of all of the table's gradients, whatever part of the sum a rank has: Megatron-LM sums the buffer
// itself. Where weights are sharded too a rank has a part of the buffer.
void PreparedExperiment::plan_tied_sum() {
  tied_gradients_ = {};
  if (!copies_embedding(experiment_)) {
    return;
  }
  const ParallelLayout& layout = experiment_.layout;
  const ParameterTensor& table = workload_->layers.front().parameters.front();
  const double held =
      static_cast<double>(table.elements()) / (layout.zero == 3 ? layout.shard_ranks() : 1);
  const Bytes size = held * element_size(experiment_.training.gradient);
  const auto priced_on = [size](const CollectiveModel& network) {
    return priced_message(MessageKind::tied_gradients, network, Collective::all_reduce, size);
  };
  const CollectiveModel* known = known_network(
      group_of(MessageKind::tied_gradients, layout, experiment_.cluster.gpus_per_node));
  tied_gradients_ =
      known != nullptr ? priced_on(*known) : priced_on(network_of(MessageKind::tied_gradients));
}

}  // namespace payoff
