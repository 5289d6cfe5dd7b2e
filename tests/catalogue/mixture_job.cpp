// SPDX-License-Identifier: Apache-2.0
#include "tests/catalogue/mixture_job.hpp"

#include "tests/model/shapes.hpp"
#include "tests/sim/random_plans.hpp"
#include "tests/study/experiments.hpp"

namespace payoff::test {
namespace {

TransformerShape mixture() {
  TransformerShape shape = llama(mixture_blocks, mixture_hidden, 16, 16, 4096, 32000);
  shape.sequence = mixture_tokens;
  shape.experts = {
      .count = 16, .per_token = mixture_experts_of_token, .width = 2048, .dense_blocks = 1};
  return shape;
}

int one_of(Random& random, const std::vector<int>& values) {
  return values[static_cast<std::size_t>(random.integer(0, static_cast<int>(values.size()) - 1))];
}

ParallelLayout random_layout(Random& random) {
  ParallelLayout layout;
  layout.tp = one_of(random, {1, 2});
  layout.pp = one_of(random, {1, 1, 2});
  layout.dp = 16 / (layout.tp * layout.pp);
  layout.ep = one_of(random, {2, 4, 8});
  layout.sequence_parallel = layout.tp > 1 && random.chance(70);
  layout.etp = random.chance(40) ? 2 : 1;
  layout.expert_imbalance = random.between(1.0, 1.6);
  layout.expert_capacity = random.chance(20) ? random.between(0.5, 1.5) : 0.0;
  layout.virtual_stages = layout.pp > 1 && random.chance(30) ? 3 : 1;
  layout.micro_batch = random.integer(1, 2);
  layout.micro_batches = 2 * random.integer(1, 4);
  layout.recompute = random.chance(30)   ? Recompute::full
                     : random.chance(30) ? Recompute::selective
                                         : Recompute::none;
  return layout;
}

}  // namespace

Experiment mixture_job(const MixtureShape& shape) {
  Experiment job = small_job({.nic = shape.nic});
  job.model = mixture();
  job.training.precision = Precision::fp16;
  job.training.gradient = Precision::fp16;
  job.software.fused_attention = true;
  job.layout.micro_batch = 1;
  job.layout.dp = 16;
  job.layout.ep = shape.ep;
  job.cluster.gpu.memory = 1000_GB;
  return job;
}

RandomMixture random_mixture(std::uint64_t seed, const std::vector<Method>& methods) {
  Random random(seed);
  RandomMixture result{mixture_job(), {}};
  auto& experts = std::get<TransformerShape>(result.job.model).experts;
  experts.per_token = random.integer(1, 4);
  experts.shared_width = random.chance(40) ? 1024 : 0;
  experts.dense_blocks = random.integer(0, 2);
  result.job.layout = random_layout(random);
  const auto number =
      static_cast<std::size_t>(random.integer(0, static_cast<int>(methods.size()) - 1));
  const bool first = random.chance(70);
  for (const Traffic traffic : {Traffic::ep_dispatch, Traffic::ep_combine}) {
    const bool forward = random.chance(75);
    const std::int64_t from = random.integer(0, 3);
    if (traffic == Traffic::ep_dispatch ? first : (!first || random.chance(50))) {
      result.plan.activations.push_back(
          {methods[number], traffic, forward, !forward || random.chance(60), {from}});
    }
  }
  result.plan.label = methods[number].name;
  return result;
}

}  // namespace payoff::test
