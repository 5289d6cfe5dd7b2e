// SPDX-License-Identifier: Apache-2.0
#include "study/candidate_job.hpp"

#include <algorithm>
#include <vector>

#include "model/activation_check.hpp"
#include "model/compression_effect.hpp"
#include "model/groups.hpp"
#include "model/method_on_graph.hpp"
#include "model/sharded_check.hpp"
#include "study/scaled_job.hpp"

namespace payoff {

namespace {

bool is_possible(const Method& method, const ParallelLayout& layout) {
  const bool whole = method.elementwise || !method.scatters;
  const bool part = method.elementwise || (method.scatters && layout.replicas() == 1);
  const bool with_experts = layout.expert_ranks() <= 1 || !has_rounds_among_some(method);
  return layout.data_ranks() > 1 && with_experts && (layout.zero == 0 ? whole : part);
}

}  // namespace

bool is_possible(const CompressionPlan& plan, const ParallelLayout& layout) {
  const std::vector<const Method*> methods = plan.gradient_methods();
  const bool gradients = std::all_of(methods.begin(), methods.end(), [&](const Method* method) {
    return is_possible(*method, layout);
  });
  const bool weights = !plan.weights || (layout.zero > (plan.weights->copy_in_node ? 2 : 0) &&
                                         layout.shard_ranks() > 1);
  return gradients && weights &&
         (plan.activations.empty() || check_activations(plan, layout, "").empty());
}

namespace {

// In another layout there are other buckets.
bool names_a_bucket(const CompressionPlan& plan, const PreparedExperiment& job) {
  for (std::size_t method = 0; method < plan.gradient_methods().size(); ++method) {
    for (std::size_t bucket = 0; bucket < job.most_buckets(); ++bucket) {
      if (plan.buckets_of(method).holds(bucket)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

bool has_effect(const CompressionPlan& plan, const PreparedExperiment& job) {
  if (plan.chooses_buckets() && !names_a_bucket(plan, job)) {
    return false;
  }
  const Experiment& experiment = job.experiment();
  const int node = experiment.cluster.gpus_per_node;
  const Group data = data_group(experiment.layout, node);
  const Workers workers{data.ranks, data.ranks_per_node};
  return check_graphs(plan, workers, "").empty() &&
         check_effect(plan, job.workload(), element_size(experiment.training.gradient), workers)
             .empty() &&
         check_activation_effect(plan, job.workload(), experiment.layout,
                                 activation_size(experiment.training.precision),
                                 tensor_group(experiment.layout, node), "")
             .empty();
}

Experiment in_layout(const Experiment& experiment, const ParallelLayout& layout) {
  Experiment job = without_plans(experiment);
  job.layout = layout;
  return job;
}

}  // namespace payoff
