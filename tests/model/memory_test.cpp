// SPDX-License-Identifier: Apache-2.0
#include "model/memory.hpp"

#include <algorithm>
#include <vector>

#include "model/transformer.hpp"
#include "tests/catch.hpp"
#include "tests/model/most_alive.hpp"
#include "tests/model/shapes.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;
using payoff::test::most_alive;

namespace {

std::vector<const Layer*> blocks(const Workload& workload) {
  std::vector<const Layer*> result;
  for (const Layer& layer : workload.layers) {
    if (layer.recomputable) {
      result.push_back(&layer);
    }
  }
  return result;
}

Training mixed_adam() {
  Training training;
  training.precision = Precision::fp16;
  training.gradient = Precision::fp16;
  training.optimizer_bytes_per_parameter = 12_B;
  return training;
}

}  // namespace

// Rajbhandari et al. 2020, section 3.1: 2 + 2 + 12 bytes a parameter for mixed-precision Adam;
// stage 1 divides the 12, stage 2 the gradients too (their figure 1: 7.5 billion parameters on 64
// GPUs take 120, 31.4 and 16.6 GB).
TEST_CASE("zero divides what its stages divide") {
  const std::vector<const Layer*> none;
  const StageContent content{.parameters = 7'500'000'000, .layers = none};
  ParallelLayout layout{.dp = 64};
  const auto total = [&] {
    return stage_memory(content, layout, mixed_adam(), 32_GB).total() / 1_GB;
  };
  CHECK_THAT(total(), WithinRel(120.0, 1e-12));
  layout.zero = 1;
  CHECK_THAT(total(), WithinRel(31.4, 0.001));
  layout.zero = 2;
  CHECK_THAT(total(), WithinRel(16.6, 0.003));
}

// Korthikanti et al. 2022, equations 2 to 6 for GPT-3 with tp 8 and one micro-batch.
TEST_CASE("kept activations follow the recomputation policy") {
  const double s = 2048;
  const double h = 12288;
  const double a = 96;
  const Workload workload =
      transformer_workload(test::gpt(96, 12288, 96, 2048, 51200), 8, false, 2_B);
  const auto layers = blocks(workload);
  const auto kept = [&](Recompute recompute, bool fused_attention) {
    return kept_activations(layers, {.tp = 8, .recompute = recompute}, fused_attention) / 1_B;
  };
  CHECK_THAT(kept(Recompute::none, false),
             WithinRel(96 * s * h * (10 + 3 + 5 * a * s / (8 * h)), 1e-12));
  CHECK_THAT(kept(Recompute::selective, false), WithinRel(96 * s * h * (10 + 3), 1e-12));
  CHECK_THAT(kept(Recompute::full, false), WithinRel(96 * s * h * 2, 1e-12));
  CHECK_THAT(kept(Recompute::none, true), WithinRel(96 * s * h * (10 + 3), 1e-12));
}

// Of a GPT block in 16 bits without dropout's masks: inputs of the first products of attention and
// feed-forward (2 n h) and of the second one of the latter (4 n h) are kept as they were cast; what
// attention gives stands in 16 bits, since its own backward reads it.
TEST_CASE("inputs of fp8 products are kept in 8 bits, everything else in 16") {
  const auto shape = test::gpt(1, 1024, 16, 512, 51200);
  const double n = 512;
  const double h = 1024;
  const Workload wide = transformer_workload(shape, 1, false, 2_B);
  const Workload cast = transformer_workload(shape, 1, false, {2_B, 1_B});
  const Bytes less = wide.layers.at(1).selective_activation_per_sample -
                     cast.layers.at(1).selective_activation_per_sample;
  CHECK_THAT(less / 1_B, WithinRel(n * h * (1 + 1 + 4), 1e-12));
  CHECK(wide.layers.at(1).boundary_per_sample == cast.layers.at(1).boundary_per_sample);
}

// Narayanan et al. 2021: at most pp micro-batches in flight; Korthikanti et al. 2022,
// section 4.2.3: the first of pp stages with v chunks holds pp (1 + (pp - 1) / (pp v)) of them.
TEST_CASE("the first stage of a pipeline holds the most micro-batches") {
  ParallelLayout layout{.pp = 8, .micro_batches = 64};
  CHECK_THAT(micro_batches_in_flight(layout, 0), WithinRel(8.0, 1e-12));
  CHECK_THAT(micro_batches_in_flight(layout, 7), WithinRel(1.0, 1e-12));
  layout.virtual_stages = 3;
  CHECK_THAT(micro_batches_in_flight(layout, 0), WithinRel(8 * (1 + 7.0 / 24), 1e-12));
  layout.micro_batches = 8;
  CHECK_THAT(micro_batches_in_flight(layout, 0), WithinRel(8.0, 1e-12));
  CHECK_THAT(micro_batches_in_flight({.micro_batches = 16}, 0), WithinRel(1.0, 1e-12));
}

TEST_CASE("micro-batches in flight are those that the schedule keeps alive") {
  const auto schedule = GENERATE(PipelineSchedule::one_f_one_b, PipelineSchedule::gpipe,
                                 PipelineSchedule::zb_h1, PipelineSchedule::zb_h2);
  const int micro_batches = GENERATE(2, 5, 16);
  const ParallelLayout layout{.pp = 4, .schedule = schedule, .micro_batches = micro_batches};
  for (int s = 0; s < layout.pp; ++s) {
    const StageSchedule order(s, layout.pp, micro_batches, 1, schedule);
    CHECK(micro_batches_in_flight(layout, s) == most_alive(order, schedule));
  }
}

TEST_CASE("schedules in a V keep half as many micro-batches as chunks") {
  const auto schedule = GENERATE(PipelineSchedule::zb_v, PipelineSchedule::dualpipe_v);
  const ParallelLayout layout{
      .pp = 4, .schedule = schedule, .virtual_stages = 2, .micro_batches = 16};
  for (int s = 0; s < layout.pp; ++s) {
    const StageSchedule order(s, layout.pp, layout.micro_batches, 2, schedule);
    CHECK(2 * micro_batches_in_flight(layout, s) == most_alive(order, schedule));
  }
}

// Of few micro-batches some stages have finished the first ones before the last ones come.
TEST_CASE(
    "a schedule in a V counts no more micro-batches than there are, and no fewer than it has") {
  const auto schedule = GENERATE(PipelineSchedule::zb_v, PipelineSchedule::dualpipe_v);
  const int micro_batches = GENERATE(1, 2, 3);
  const ParallelLayout layout{
      .pp = 4, .schedule = schedule, .virtual_stages = 2, .micro_batches = micro_batches};
  for (int s = 0; s < layout.pp; ++s) {
    CHECK(micro_batches_in_flight(layout, s) <= micro_batches);
    CHECK(2 * micro_batches_in_flight(layout, s) >=
          most_alive(StageSchedule(s, layout.pp, micro_batches, 2, schedule), schedule));
  }
}

TEST_CASE("full recomputation needs one whole layer at its peak") {
  const Workload workload = transformer_workload(test::gpt(4, 1024, 16, 512, 51200), 1, false, 2_B);
  const auto layers = blocks(workload);
  const ParallelLayout layout{.micro_batch = 2, .recompute = Recompute::full};
  const Memory memory = stage_memory({.layers = layers}, layout, mixed_adam(), 80_GB);
  const Layer& block = workload.layers.at(1);
  const Bytes expected = 2 * (3 * block.boundary_per_sample + block.activation_per_sample);
  CHECK_THAT(memory.activations / expected, WithinRel(1.0, 1e-12));
}

TEST_CASE("buckets and the state of a codec count only where they exist") {
  const std::vector<const Layer*> none;
  StageContent content{.parameters = 1'000'000, .layers = none, .bucket_copies = 1};
  CHECK(stage_memory(content, {}, mixed_adam(), 1_GB).buckets == 0_B);
  CHECK(stage_memory(content, {.dp = 2}, mixed_adam(), 1_GB).buckets == 2_MB);
  content.codec_state = 4_MB;
  const Memory memory = stage_memory(content, {.dp = 2}, mixed_adam(), 21_MB);
  CHECK(memory.total() == 16_MB + 2_MB + 4_MB);
  CHECK_FALSE(memory.fits());
}

TEST_CASE("a margin is a share of all that is held, and decides whether it fits") {
  const std::vector<const Layer*> none;
  StageContent content{.parameters = 1'000'000, .layers = none};
  content.codec_state = 4_MB;
  Training training = mixed_adam();
  CHECK(stage_memory(content, {}, training, 20_MB).fits());
  CHECK(stage_memory(content, {}, training, 20_MB).margin() == 0_B);
  training.memory_margin = 0.25;
  const Memory memory = stage_memory(content, {}, training, 20_MB);
  CHECK(memory.margin() == 0.25 * (16_MB + 4_MB));
  CHECK(memory.total() == 25_MB);
  CHECK_FALSE(memory.fits());
}

// Without sharded weights only the last micro-batch reduces: until then the sum is of all
// gradients.
TEST_CASE("zero 2 keeps a part of the gradients of one micro-batch, and the whole sum of several") {
  const std::vector<const Layer*> none;
  const StageContent content{.parameters = 8'000'000, .layers = none};
  const auto gradients = [&](int zero, int micro_batches) {
    const ParallelLayout layout{.dp = 8, .zero = zero, .micro_batches = micro_batches};
    return stage_memory(content, layout, mixed_adam(), 1_GB).gradients;
  };
  CHECK(gradients(2, 1) == 2_MB);
  CHECK(gradients(2, 8) == 16_MB);
  CHECK(gradients(1, 1) == 16_MB);
  CHECK(gradients(3, 8) == 2_MB);  // which every micro-batch reduces
}

TEST_CASE("buckets hold the gradients that other ranks sum too") {
  const std::vector<const Layer*> none;
  const StageContent content{
      .parameters = 1'000'000, .expert_parameters = 400'000, .layers = none, .bucket_copies = 1};
  const auto buckets = [&](const ParallelLayout& layout) {
    return stage_memory(content, layout, mixed_adam(), 1_GB).buckets;
  };
  CHECK(buckets({.dp = 4, .ep = 2}) == 2_MB);
  CHECK(buckets({.dp = 2, .ep = 2}) == 600'000 * 2_B);  // each expert on one rank
  CHECK(buckets({.tp = 2}) == 400'000 * 2_B);           // all else on one rank
}

TEST_CASE("buckets of sharded weights hold what is reduced at once") {
  const std::vector<const Layer*> none;
  StageContent content{.parameters = 1'000'000, .layers = none, .bucket_copies = 1};
  CHECK(stage_memory(content, {.dp = 4, .zero = 3}, mixed_adam(), 1_GB).buckets == 0_B);
  content.reduced = 50'000;
  CHECK(stage_memory(content, {.dp = 4, .zero = 3}, mixed_adam(), 1_GB).buckets == 50'000 * 2_B);
}
