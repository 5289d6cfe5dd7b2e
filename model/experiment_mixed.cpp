// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "model/experiment.hpp"
#include "model/interference.hpp"
#include "model/node_kinds.hpp"

// A step on nodes of several kinds (model/node_kinds.hpp). The job is prepared once for the nodes
// of each stage as if all nodes were such, and each stage is taken from where its own GPUs are:
// what a stage does depends on its own nodes only, but for messages to another stage, which take
// what they take among the slower nodes of both.

namespace payoff {
namespace {

Message slower(const Message& a, const Message& b) { return b.alone > a.alone ? b : a; }

// All that the GPU of a stage does in a step.
Seconds work_of(const StepPlan& plan, std::size_t s) {
  const StagePlan& stage = plan.stages[s];
  Seconds once = stage.optimizer.alone;
  for (const Bucket& bucket : plan.buckets(s)) {
    const BucketKind& kind = plan.kind(bucket);
    once += kind.decode.alone;
    for (const BucketRound& round : kind.rounds) {
      once += round.encode.alone;
    }
  }
  return plan.layout.passes() * (stage.compute->forward_time() + stage.compute->backward_time()) +
         once;
}

// Where the stages of a plan come from.
struct Origins {
  std::vector<StepPlan> plans;        // of the parts
  std::vector<std::size_t> of_stage;  // which of them
  std::vector<std::size_t> kinds;     // before those of each part, in the plan

  [[nodiscard]] const StepPlan& plan(std::size_t stage) const { return plans[of_stage[stage]]; }
  [[nodiscard]] std::size_t size() const { return of_stage.size(); }
};

// Equal stages of one part stay equal; the first of them has the buckets of all.
std::size_t first_like(const Origins& from, std::size_t s) {
  const std::size_t like = from.plan(s).stages[s].like;
  for (std::size_t earlier = 0; earlier < s; ++earlier) {
    if (from.of_stage[earlier] == from.of_stage[s] && from.plan(s).stages[earlier].like == like) {
      return earlier;
    }
  }
  return s;
}

StagePlan stage_of(const Origins& from, std::size_t s) {
  const StepPlan& plan = from.plan(s);
  const std::size_t kinds = from.kinds[from.of_stage[s]];
  StagePlan stage = plan.stages[s];
  stage.like = first_like(from, s);
  stage.buckets = stage.like == s ? plan.buckets(s) : std::vector<Bucket>{};
  for (Bucket& bucket : stage.buckets) {
    bucket.kind += kinds;
  }
  for (auto* gathers : {&stage.forward_gathers, &stage.backward_gathers}) {
    for (WeightGather& gather : *gathers) {
      gather.kind += kinds;
    }
  }
  const auto next = static_cast<std::size_t>(
      stage_after(static_cast<int>(s), static_cast<int>(from.size()), plan.layout.schedule));
  const std::size_t before = (s + from.size() - 1) % from.size();
  stage.send_forward = slower(stage.send_forward, from.plan(next).stages[s].send_forward);
  stage.send_backward = slower(stage.send_backward, from.plan(before).stages[s].send_backward);
  return stage;
}

int most_channels(const StepPlan& plan) {
  int channels = 0;
  for (const StagePlan& stage : plan.stages) {
    channels = std::max({channels, stage.send_forward.channels, stage.send_backward.channels});
  }
  return channels;
}

}  // namespace

// With the GPUs of each kind that a stage is on.
void PreparedExperiment::prepare_parts() {
  parts_.clear();
  parts_of_stage_.clear();
  const Cluster& cluster = experiment_.cluster;
  if (!cluster.is_mixed()) {
    return;
  }
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    std::vector<std::size_t> kinds = kinds_of_stage(cluster, experiment_.layout, s);
    std::vector<std::size_t>& parts = parts_of_stage_.emplace_back();
    for (std::size_t first = 0; first < kinds.size(); ++first) {
      std::vector<std::size_t> order = kinds;
      std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(first), order.end());
      const auto known = std::find_if(parts_.begin(), parts_.end(),
                                      [&](const Part& part) { return part.kinds == order; });
      parts.push_back(static_cast<std::size_t>(known - parts_.begin()));
      if (known == parts_.end()) {
        Experiment part = experiment_;
        part.cluster = nodes_of(cluster, order);
        parts_.push_back(
            {std::move(order), std::unique_ptr<PreparedExperiment>(
                                   new PreparedExperiment(std::move(part), pin_, AsOne{}))});
      }
    }
  }
}

StepPlan PreparedExperiment::plan_of_parts(const CompressionPlan& compression,
                                           std::span<const CallCost> codec_costs) const {
  Origins from;
  for (const Part& part : parts_) {
    from.plans.push_back(part.prepared->plan_as_one(compression, codec_costs));
  }
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    from.of_stage.push_back(*std::max_element(
        parts_of_stage_[s].begin(), parts_of_stage_[s].end(), [&](std::size_t a, std::size_t b) {
          return work_of(from.plans[a], s) < work_of(from.plans[b], s);
        }));
  }
  StepPlan plan = from.plans.front();
  plan.stages.clear();
  plan.kinds.clear();
  for (const StepPlan& part : from.plans) {
    from.kinds.push_back(plan.kinds.size());
    plan.kinds.insert(plan.kinds.end(), part.kinds.begin(), part.kinds.end());
  }
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    plan.stages.push_back(stage_of(from, s));
  }
  plan.tied_gradients =
      slower(from.plan(0).tied_gradients, from.plan(stages_.size() - 1).tied_gradients);
  const int channels = most_channels(plan);
  plan.send_share = 0;
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    const std::size_t part = from.of_stage[s];
    const Gpu& gpu = parts_[part].prepared->experiment_.cluster.gpu;
    plan.units.push_back({part, from.plans[part].reserved_share,
                          reserved_share(channels, gpu.compute_units),
                          from.plans[part].exchange_share, from.plans[part].waves, gpu.pairs});
    plan.reserved_share = std::max(plan.reserved_share, plan.units.back().reserved_share);
    plan.send_share = std::max(plan.send_share, plan.units.back().send_share);
  }
  return plan;
}

// All parts cut the same buckets.
const Gpu& PreparedExperiment::gpu_of_kind(const StepPlan& plan, std::size_t kind) const {
  return parts_.empty()
             ? experiment_.cluster.gpu
             : parts_[kind * parts_.size() / plan.kinds.size()].prepared->experiment_.cluster.gpu;
}

// The smallest one that its ranks have.
Bytes PreparedExperiment::memory_of_stage(std::size_t stage) const {
  const Cluster& cluster = experiment_.cluster;
  if (!cluster.is_mixed()) {
    return cluster.gpu.memory;
  }
  std::vector<Bytes> memories;
  for (const std::size_t kind : kinds_of_stage(cluster, experiment_.layout, stage)) {
    memories.push_back(cluster.kinds[kind].gpu.memory);
  }
  return *std::min_element(memories.begin(), memories.end());
}

}  // namespace payoff
