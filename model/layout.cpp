// SPDX-License-Identifier: Apache-2.0
#include "model/layout.hpp"

#include <cstdint>
#include <limits>
#include <string>

#include "model/append_problems.hpp"
#include "model/other_all_reduce.hpp"
#include "model/pipeline_check.hpp"
#include "model/rank_order.hpp"
#include "model/shard_check.hpp"

namespace payoff {
namespace {

struct CountField {
  const char* path;
  int value;
};

// Every count is at least one.
void check_counts(const ParallelLayout& layout, Problems& problems) {
  for (const CountField& field :
       {CountField{"layout.dp", layout.dp}, CountField{"layout.tp", layout.tp},
        CountField{"layout.pp", layout.pp}, CountField{"layout.cp", layout.cp},
        CountField{"layout.ep", layout.ep}, CountField{"layout.etp", layout.etp},
        CountField{"layout.tp_overlap", layout.tp_overlap},
        CountField{"layout.virtual_stages", layout.virtual_stages},
        CountField{"layout.micro_batch", layout.micro_batch},
        CountField{"layout.micro_batches", layout.micro_batches}}) {
    if (field.value < 1) {
      problems.push_back({field.path, "must be at least 1, is " + std::to_string(field.value), ""});
    }
  }
  if (layout.zero < 0 || layout.zero > 3) {
    problems.push_back(
        {"layout.zero", "must be 0, 1, 2 or 3, is " + std::to_string(layout.zero), ""});
  }
  if (layout.shard < 0) {
    problems.push_back({"layout.shard", "must not be negative, is " + std::to_string(layout.shard),
                        "leave it out to shard over all of dp"});
  }
}

// What makes ranks and GPUs as many.
std::string fitting_sizes(std::int64_t ranks, std::int64_t model, const Cluster& cluster) {
  const std::int64_t gpus = std::int64_t{cluster.gpus_per_node} * cluster.nodes;
  if (gpus % model == 0) {
    return "set dp to " + std::to_string(gpus / model);
  }
  const std::string smaller = "choose tp, cp and pp whose product divides " + std::to_string(gpus);
  return ranks <= most_ranks && ranks % cluster.gpus_per_node == 0
             ? "set cluster.nodes to " + std::to_string(ranks / cluster.gpus_per_node) + ", or " +
                   smaller
             : smaller;
}

void check_ranks(const ParallelLayout& layout, const Cluster& cluster, Problems& problems) {
  const std::int64_t gpus = std::int64_t{cluster.gpus_per_node} * cluster.nodes;
  const int ranks = layout.ranks();
  if (ranks == gpus) {
    return;
  }
  const bool too_many = ranks == std::numeric_limits<int>::max();
  const int model = ranks_of(ranks_of(layout.tp, layout.cp), layout.pp);
  const std::string context = layout.cp > 1 ? " x cp " + std::to_string(layout.cp) : "";
  problems.push_back({"layout.dp",
                      "dp " + std::to_string(layout.dp) + " x tp " + std::to_string(layout.tp) +
                          context + " x pp " + std::to_string(layout.pp) +
                          (too_many ? " are more ranks than can be counted"
                                    : " = " + std::to_string(ranks) + " ranks") +
                          ", but the cluster has " + std::to_string(gpus) + " GPUs",
                      fitting_sizes(ranks, model, cluster)});
}

// Tensor-parallel groups, and then blocks of dp * tp ranks, must fill nodes evenly: a node holds
// whole groups, or a group whole nodes.
void check_fill(std::int64_t ranks, const char* path, const char* what, const Cluster& cluster,
                Problems& problems) {
  if (fills_nodes(ranks, cluster)) {
    return;
  }
  problems.push_back(
      {path,
       std::string(what) + " of " + std::to_string(ranks) + " ranks do not fill nodes of " +
           std::to_string(cluster.gpus_per_node) + " GPUs evenly",
       "choose a divisor or a multiple of " + std::to_string(cluster.gpus_per_node)});
}

// Neighbours that divide an expert, and all of them, in stages and nodes.
void check_expert_ranks(const ParallelLayout& layout, const Cluster& cluster, Problems& problems) {
  const std::string ranks =
      std::to_string(layout.copy_ranks()) + " ranks of a stage (tp x cp x dp)";
  const std::string etp = "etp " + std::to_string(layout.etp);
  if (layout.copy_ranks() % layout.etp != 0) {
    problems.push_back(
        {"layout.etp", etp + " does not divide the " + ranks, "choose a divisor of them"});
    return;
  }
  if (layout.copy_ranks() % (std::int64_t{layout.ep} * layout.etp) != 0) {
    problems.push_back(
        {"layout.ep",
         "ep " + std::to_string(layout.ep) + (layout.etp > 1 ? " x " + etp : "") +
             " does not divide the " + ranks,
         layout.etp > 1 ? "choose a divisor of them over etp" : "choose a divisor of them"});
    return;
  }
  if (!has_usual_order(layout)) {
    return;  // check_order looks at all groups
  }
  if (layout.etp > 1) {
    check_fill(layout.etp, "layout.etp", "groups that divide an expert", cluster, problems);
  }
  if (layout.ep > 1) {
    check_fill(layout.expert_ranks(), "layout.ep",
               layout.etp > 1 ? "ep x etp blocks" : "expert-parallel groups", cluster, problems);
  }
}

void check_experts(const ParallelLayout& layout, const Cluster& cluster, Problems& problems) {
  if (!(layout.expert_imbalance >= 1.0)) {
    problems.push_back({"layout.expert_imbalance",
                        "the busiest rank has at least as many tokens as the mean",
                        "give a number from 1 on"});
  }
  if (layout.expert_capacity > 0 && layout.expert_imbalance > 1) {
    problems.push_back({"layout.expert_imbalance",
                        "with expert_capacity every rank computes equally many tokens",
                        "leave one of them out"});
  }
  check_expert_ranks(layout, cluster, problems);
}

// Whether its ranks are the cluster's, in nodes that each group fills evenly. One cause, one
// problem: what rests on a value that is refused waits for a better one.
Problems check_ranks_in_nodes(const ParallelLayout& layout, const Cluster& cluster) {
  Problems problems;
  const bool usual = has_usual_order(layout);
  if (usual) {
    check_fill(layout.tp, "layout.tp", "tensor-parallel groups", cluster, problems);
  }
  if (problems.empty()) {
    check_ranks(layout, cluster, problems);
  }
  if (problems.empty() && !usual) {
    append(problems, check_order(layout, cluster));
  }
  if (problems.empty() && usual) {
    check_fill(ranks_of(layout.tp, layout.cp), "layout.cp", "tp x cp blocks", cluster, problems);
  }
  if (problems.empty() && usual) {
    check_fill(layout.stage_ranks(), "layout.dp",
               layout.cp > 1 ? "tp x cp x dp blocks" : "tp x dp blocks", cluster, problems);
  }
  return problems;
}

void check_sequence_parallelism(const ParallelLayout& layout, Problems& problems) {
  if (layout.tp_overlap > 1 && (!layout.sequence_parallel || layout.tp == 1)) {
    problems.push_back(
        {"layout.tp_overlap",
         "only gathers and scatters of sequence parallelism are cut in pieces beside "
         "their products",
         layout.tp > 1 ? "set sequence_parallel to true, or tp_overlap to 1"
                       : "leave it out, tp is 1"});
  }
  if (layout.sequence_parallel && layout.tp == 1) {
    problems.push_back({"layout.sequence_parallel", "sequence parallelism needs tp > 1",
                        "leave it out, or set tp"});
  }
}

}  // namespace

Problems check_layout(const ParallelLayout& layout, const Cluster& cluster, int layers) {
  Problems problems;
  check_counts(layout, problems);
  if (!problems.empty()) {
    return problems;  // what follows divides by them
  }
  problems = check_ranks_in_nodes(layout, cluster);
  const bool sound_ranks = problems.empty();
  check_experts(layout, cluster, problems);
  check_pipeline(layout, layers, problems);
  check_pairs(layout, problems);
  check_sharding(layout, cluster, sound_ranks, problems);
  if (sound_ranks) {
    append(problems, check_dp_collective(layout, cluster));
  }
  check_sequence_parallelism(layout, problems);
  return problems;
}

}  // namespace payoff
