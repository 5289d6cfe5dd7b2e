// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <variant>

#include "tests/sim/random_plans.hpp"
#include "tests/study/experiments.hpp"

namespace payoff::test {
namespace {

Cluster eight_gpu_nodes(int nodes) {
  Cluster cluster = small_job().cluster;
  cluster.gpus_per_node = 8;
  cluster.fabric.max_gpus = 8;
  cluster.nics_per_node = 8;
  cluster.nic = 100_Gbps;
  cluster.nodes = nodes;
  return cluster;
}

TransformerShape small_transformer(int layers) {
  TransformerShape shape;
  shape.name = "small";
  shape.layers = layers;
  shape.hidden = 1024;
  shape.heads = shape.kv_heads = 16;
  shape.head_size = 64;
  shape.feed_forward = 4096;
  shape.vocabulary = 32000;
  shape.positions = shape.sequence = 512;
  return shape;
}

// Experts in the blocks after the first one, on as many ranks as divide them.
void add_experts(Random& random, Experiment& job) {
  auto& shape = std::get<TransformerShape>(job.model);
  ParallelLayout& layout = job.layout;
  shape.experts = {.count = 16, .per_token = 2, .width = 1024, .dense_blocks = 1};
  shape.experts.shared_width = random.chance(50) ? 1024 : 0;
  layout.sequence_parallel = layout.tp > 1;
  layout.ep = std::min(layout.stage_ranks(), 1 << random.integer(0, 4));
  const int parts = 1 << random.integer(0, 2);
  layout.etp = std::min(layout.stage_ranks() / layout.ep, random.chance(60) ? 1 : parts);
  layout.expert_imbalance = layout.ep > 1 && random.chance(50) ? random.between(1, 2) : 1;
  layout.zero = random.integer(0, 2);
}

// Weights too, over all ranks or in groups, let go after forward or not.
void shard_weights(Random& random, ParallelLayout& layout) {
  layout.zero = 3;
  layout.reshard = random.chance(60);
  const int shard = layout.data_ranks() >> random.integer(0, 2);
  const bool holds_experts = layout.tp * shard % layout.expert_ranks() == 0;
  layout.shard = shard > 1 && holds_experts ? shard : 0;
}

ParallelLayout random_layout(Random& random, int gpus) {
  ParallelLayout layout;
  layout.tp = 1 << random.integer(0, 3);
  layout.pp = std::min(gpus / layout.tp, 1 << random.integer(0, 2));
  layout.dp = gpus / (layout.tp * layout.pp);
  layout.sequence_parallel = layout.tp > 1 && random.chance(30);
  layout.micro_batch = random.integer(1, 4);
  layout.micro_batches = layout.pp * random.integer(1, 4);
  layout.recompute = static_cast<Recompute>(random.integer(0, 2));
  if (layout.pp > 1) {
    layout.schedule = static_cast<PipelineSchedule>(random.integer(0, 3));
    const bool may_interleave = layout.schedule == PipelineSchedule::one_f_one_b;
    layout.virtual_stages = may_interleave && random.chance(80) ? 2 : 1;
  }
  return layout;
}

CompressionPlan random_compression(Random& random) {
  const double passes = random.between(0, 4);
  const int method = random.integer(0, 2);
  CompressionPlan plan = method == 0   ? shrink(random.between(1, 20), passes)
                         : method == 1 ? two_rounds(random.between(2, 20), passes)
                                       : sparse(random.between(0.001, 0.2), passes);
  plan.placement = static_cast<Placement>(random.integer(0, 4));
  return plan;
}

}  // namespace

Experiment random_experiment(std::uint64_t seed) {
  Random random(seed);
  if (random.chance(40)) {
    Experiment job = small_job({.nodes = random.integer(1, 6),
                                .layers = random.integer(1, 20),
                                .nic = Bandwidth{random.between(1e8, 2e10)}});
    job.layout.micro_batches = random.integer(1, 3);
    job.training.bucket = random.integer(1, 40) * 1_MiB;
    job.training.overlap = random.chance(85);
    return with_plans(std::move(job), {random_compression(random)});
  }
  Experiment job = small_job();
  job.cluster = eight_gpu_nodes(1 << random.integer(0, 2));
  job.model = small_transformer(8 * random.integer(1, 2));
  job.layout = random_layout(random, job.cluster.gpus());
  if (job.layout.pp == 2 && job.layout.virtual_stages == 1 && random.chance(50)) {
    const auto layers = static_cast<int>(std::get<TransformerShape>(job.model).layers);
    const int first = random.integer(1, layers - 1);
    job.layout.stage_layers = {first, layers - first};
  }
  if (random.chance(40)) {
    add_experts(random, job);
  }
  if (job.layout.sequence_parallel && random.chance(30)) {
    job.layout.tp_overlap = 1 << random.integer(1, 3);
  }
  if (job.layout.dp > 1 && random.chance(25)) {
    shard_weights(random, job.layout);
    job.training.overlap = random.chance(85);
  }
  // Numbers of its own: all else is what it was before models were tied.
  std::get<TransformerShape>(job.model).tied_embeddings = Random(~seed).chance(50);
  job.training.precision = Precision::fp16;
  job.training.gradient = Precision::fp16;
  if (job.layout.dp > 1 && job.layout.zero == 0 && random.chance(30)) {
    return with_plans(std::move(job), {random_compression(random)});
  }
  return job;
}

}  // namespace payoff::test
