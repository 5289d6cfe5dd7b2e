// SPDX-License-Identifier: Apache-2.0
#include "study/checkpoint.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "model/rank_order.hpp"

namespace payoff {
namespace {

// A rank by its places in the layout (model/layout.hpp: tp innermost, then cp and dp, then pp).
struct Place {
  int stage{};
  int data{};      // among the ranks with the same parameters
  int of_stage{};  // among all ranks of the stage
};

// Sums over nodes what `bytes` says of each rank.
template <class BytesOf>
CheckpointTraffic summed(const CheckpointShape& shape, const BytesOf& bytes) {
  const ParallelLayout& layout = shape.layout;
  const int ranks = layout.ranks();
  CheckpointTraffic traffic;
  std::vector<Bytes> of_node(
      static_cast<std::size_t>((ranks + shape.gpus_per_node - 1) / shape.gpus_per_node));
  for (int rank = 0; rank < ranks; ++rank) {
    Bytes& node =
        of_node[static_cast<std::size_t>(gpu_of_rank(layout, rank) / shape.gpus_per_node)];
    const int of_stage = rank % layout.stage_ranks();
    const Place place{rank / layout.stage_ranks(), of_stage / layout.tp, of_stage};
    const Bytes own = bytes(shape.stages[static_cast<std::size_t>(place.stage)], place);
    node += own;
    traffic.total += own;
    traffic.busiest_node = std::max(traffic.busiest_node, node);
  }
  return traffic;
}

double most_tensors(const CheckpointShape& shape) {
  double most = 0;
  for (const HeldParameters& stage : shape.stages) {
    most = std::max(most, stage.tensors);
  }
  return most;
}

std::int64_t count_tensors(const Workload& workload) {
  std::int64_t count = 0;
  for (const Layer& layer : workload.layers) {
    count += static_cast<std::int64_t>(layer.parameters.size());
  }
  return count;
}

// What each GPU writes of the saved state: `part` of the weights and of the optimiser.
struct StateShares {
  double weights{};
  double optimizer{};
};

// Of the dense parameters, and of the experts.
StateShares written_dense(const ParallelLayout& layout, const Place& place) {
  const int shards = layout.shard_ranks();
  const double first = place.data == 0 ? 1.0 : 0.0;
  const double part = place.data < shards ? 1.0 / shards : 0.0;
  return {layout.zero == 3 ? part : first, layout.zero > 0 ? part : first};
}

StateShares written_experts(const ParallelLayout& layout, const Place& place) {
  const double first = place.of_stage < layout.expert_ranks() ? 1.0 : 0.0;
  const bool of_first_copy = place.of_stage < layout.tp * layout.shard_ranks();
  const double part = of_first_copy ? 1.0 / layout.expert_shards() : 0.0;
  return {layout.zero == 3 ? part : first, layout.zero > 0 ? part : first};
}

}  // namespace

CheckpointShape checkpoint_shape(const PreparedExperiment& job) {
  const Experiment& experiment = job.experiment();
  const Training& training = experiment.training;
  CheckpointShape shape;
  shape.layout = experiment.layout;
  shape.gpus_per_node = experiment.cluster.gpus_per_node;
  shape.state = {weight_size(training.precision, experiment.software.fp8_weights),
                 training.optimizer_bytes_per_parameter, element_size(training.precision) < 4_B};
  // Every parameter once: no rank of a tensor group has its own copy of a norm, none pads a table.
  const auto whole = undivided(experiment.model, activation_size(training.precision));
  shape.parameters = static_cast<double>(whole->parameters());
  shape.tensors = static_cast<double>(count_tensors(*whole));
  const StepPlan plan = job.plan(experiment.plans.front());
  double held = 0;
  for (const StagePlan& stage : plan.stages) {
    const auto experts = static_cast<double>(stage.compute->expert_parameters);
    const auto all = static_cast<double>(stage.compute->parameters);
    shape.stages.push_back({all - experts, experts, 0});
    held += all;
  }
  for (HeldParameters& stage : shape.stages) {  // tensors of a model are much alike
    stage.tensors = std::ceil(shape.tensors * (stage.dense + stage.experts) / held);
  }
  return shape;
}

CheckpointTraffic save_traffic(const CheckpointShape& shape) {
  const ParameterState& state = shape.state;
  CheckpointTraffic traffic =
      summed(shape, [&](const HeldParameters& held, const Place& place) -> Bytes {
        const StateShares dense = written_dense(shape.layout, place);
        const StateShares experts = written_experts(shape.layout, place);
        return (held.dense * dense.weights + held.experts * experts.weights) * state.weight +
               (held.dense * dense.optimizer + held.experts * experts.optimizer) * state.optimizer;
      });
  traffic.files = 2;  // weights, and the optimiser's
  return traffic;
}

CheckpointTraffic native_load_traffic(const CheckpointShape& shape) {
  const ParallelLayout& layout = shape.layout;
  const ParameterState& state = shape.state;
  CheckpointTraffic traffic = summed(shape, [&](const HeldParameters& held, const Place&) -> Bytes {
    const double whole = held.dense + held.experts;
    const double part = held.dense / layout.shard_ranks() + held.experts / layout.expert_shards();
    return (layout.zero == 3 ? part : whole) * state.weight +
           (layout.zero > 0 ? part : whole) * state.optimizer;
  });
  traffic.files = 2;
  return traffic;
}

CheckpointTraffic atoms_load_traffic(const CheckpointShape& shape) {
  const ParallelLayout& layout = shape.layout;
  CheckpointTraffic traffic = summed(shape, [&](const HeldParameters& held, const Place&) -> Bytes {
    const double part = layout.zero == 0 ? held.dense + held.experts
                                         : held.dense / layout.shard_ranks() +
                                               held.experts / layout.expert_shards();
    return part * shape.state.atoms();
  });
  // A shard is a run of parameters: it begins and ends within a tensor.
  const double of_shard = most_tensors(shape) / layout.shard_ranks();
  const double tensors = layout.shard_ranks() == 1 ? of_shard : std::ceil(of_shard) + 1;
  traffic.files = tensors * shape.state.files();
  return traffic;
}

bool same_shards(const CheckpointShape& a, const CheckpointShape& b) {
  const ParallelLayout& x = a.layout;
  const ParallelLayout& y = b.layout;
  const bool whole = x.tp == y.tp && x.stages() == y.stages() && x.ep == y.ep && x.etp == y.etp &&
                     x.zero == y.zero && x.stage_layers == y.stage_layers &&
                     x.virtual_stages == y.virtual_stages &&
                     is_v_shaped(x.schedule) == is_v_shaped(y.schedule);
  const bool experts = std::any_of(a.stages.begin(), a.stages.end(),
                                   [](const HeldParameters& held) { return held.experts > 0; });
  const bool parts = x.zero == 0 || (x.shard_ranks() == y.shard_ranks() &&
                                     (!experts || x.expert_shards() == y.expert_shards()));
  return whole && parts && a.state.weight == b.state.weight &&
         a.state.optimizer == b.state.optimizer;
}

std::string_view name(StorageLimit limit) {
  switch (limit) {
    case StorageLimit::total:
      return "storage";
    case StorageLimit::node:
      return "one node";
    case StorageLimit::files:
      return "opening files";
  }
  return "";
}

Transfer transfer(const CheckpointTraffic& traffic, const Storage& storage) {
  const Bandwidth node = storage.per_node > Bandwidth{} ? storage.per_node : storage.total;
  const Seconds all = traffic.total / storage.total;
  const Seconds busiest = traffic.busiest_node / node;
  const Seconds files = traffic.files * storage.per_file;
  const Seconds moved = std::max(all, busiest);
  Transfer result{traffic, moved + files,
                  all >= busiest ? StorageLimit::total : StorageLimit::node};
  if (files > moved) {
    result.limit = StorageLimit::files;
  }
  return result;
}

Conversion conversion(const CheckpointShape& saved, const Storage& storage, int nodes) {
  const CheckpointTraffic whole = save_traffic(saved);
  const Bytes weights = whole.total * (saved.state.weight / saved.state.saved());
  const double processes = static_cast<double>(nodes) * saved.gpus_per_node;
  CheckpointTraffic read;
  read.total = saved.state.master ? whole.total - weights : whole.total;
  read.busiest_node = read.total / nodes;
  read.files = std::ceil(2.0 * saved.layout.ranks() / processes);
  CheckpointTraffic write;
  write.total = saved.parameters * saved.state.atoms();
  write.busiest_node = write.total / nodes;
  write.files = std::ceil(saved.tensors / processes) * saved.state.files();
  return {transfer(read, storage), transfer(write, storage)};
}

}  // namespace payoff
