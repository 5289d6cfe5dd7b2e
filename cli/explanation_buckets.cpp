// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/explanation_parts.hpp"
#include "model/compute.hpp"

// What becomes of buckets beside their messages: they are filled and emptied, and their weights may
// be updated in backward.

namespace payoff {
namespace {

// What filling a bucket takes beyond its bytes is a launch for each of its tensors.
std::string launches_of_copy(const Experiment& experiment, const BucketKind& kind, Seconds fill) {
  const Bytes traffic = experiment.software.bucket_copy_passes *
                        static_cast<double>(kind.elements) *
                        element_size(experiment.training.gradient);
  const Gpu& gpu = experiment.cluster.gpu;
  const Seconds launches = fill - streaming_time(traffic, gpu) + gpu.law.launch;
  const double count = gpu.law.launch > 0_s ? std::round(launches / gpu.law.launch) : 1.0;
  return count > 1.0 ? put_in(count) + " * " : "";
}

// Among how many ranks the sum of a bucket is divided: experts have ranks of their own.
int shards_of(const BucketKind& kind, const ParallelLayout& layout) {
  const MessageKind first =
      kind.rounds.empty() ? MessageKind::dp_gradients : kind.rounds.front().message.kind;
  const bool of_experts = first == MessageKind::ep_gradients || first == MessageKind::ep_replicas;
  return of_experts ? layout.expert_shards() : layout.shard_ranks();
}

}  // namespace

std::string of_elements(const BucketKind& kind) {
  return fmt::format("bucket of {} gradients", kind.elements);
}

std::vector<ExplainedPart> parts_of_updates(const ExplainedPlan& plan) {
  const Experiment& experiment = plan.experiment();
  const Gpu& gpu = experiment.cluster.gpu;
  const Bytes traffic = experiment.training.optimizer_traffic_per_parameter;
  const Bandwidth reached = reached_bandwidth(gpu);
  std::vector<ExplainedPart> parts;
  const auto add = [&](const std::string& what, Seconds time) {
    const double updated = std::round((time - gpu.law.launch) * reached / traffic);
    add_part({what, 1,
              fmt::format("{} * {} / {} + {}", put_in(updated), put_in(traffic.si),
                          bandwidth_of_kernels(gpu), put_in(gpu.law.launch.si)),
              time},
             parts);
  };
  for (const Bucket& bucket : plan.step.buckets(plan.stage_index)) {
    const BucketKind& kind = plan.step.kind(bucket);
    if (kind.decode.update > 0_s) {
      add(of_elements(kind) + ", update", kind.decode.update);
    }
  }
  if (!parts.empty() && plan.stage.optimizer.alone > 0_s) {
    add("what no bucket has", plan.stage.optimizer.alone);
  }
  return parts;
}

std::vector<ExplainedPart> parts_of_copies(const ExplainedPlan& plan) {
  const Experiment& experiment = plan.experiment();
  const Gpu& gpu = experiment.cluster.gpu;
  std::vector<ExplainedPart> parts;
  for (const Bucket& bucket : plan.step.buckets(plan.stage_index)) {
    const BucketKind& kind = plan.step.kind(bucket);
    Seconds fill{};
    for (const BucketRound& round : kind.rounds) {
      fill += round.encode.bucket_copy;
    }
    const std::string copy = fmt::format(
        "{} * {} * {} / {} + {}{}", put_in(experiment.software.bucket_copy_passes),
        put_in(static_cast<double>(kind.elements)),
        put_in(element_size(experiment.training.gradient).si), bandwidth_of_kernels(gpu),
        launches_of_copy(experiment, kind, fill), put_in(gpu.law.launch.si));
    if (fill > 0_s) {
      add_part({of_elements(kind) + " filled", 1, copy, fill}, parts);
    }
    if (kind.decode.bucket_copy > 0_s) {
      const int shards = shards_of(kind, experiment.layout);
      add_part(
          {of_elements(kind) + " emptied", 1,
           shards > 1 ? fmt::format("({}) / {}", copy, shards) : copy, kind.decode.bucket_copy},
          parts);
    }
  }
  return parts;
}

}  // namespace payoff
