// SPDX-License-Identifier: Apache-2.0
#include "model/kernel_waves.hpp"

#include "model/compute.hpp"
#include "model/experiment.hpp"
#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

constexpr double ring = 24.0 / 132.0;  // what the channels of a ring hold of an H100

double slowdown(const KernelMix& mix, double held, int units = 132) {
  WaveTable table(units);
  const std::size_t number = table.add(mix);
  return table.paces(held)[number].time;
}

Gpu with_units(int units, Architecture architecture = Architecture::hopper) {
  Gpu gpu = test::ideal_gpu();
  gpu.compute_units = units;
  gpu.architecture = architecture;
  return gpu;
}

// 11 x 12 tiles of 256 x 128; deep enough that no GPU here waits for its memory.
Operator full_wave() {
  return {.kind = OperatorKind::gemm, .rows_per_sample = 2816, .columns = 1536, .depth = 8192};
}

KernelMix forward_mix(const Operator& op, const Gpu& gpu, Precision precision = Precision::bf16) {
  KernelMix mix;
  (void)price_forward(std::span(&op, 1), 1, {gpu, {}, precision}, &mix);
  return mix;
}

}  // namespace

TEST_CASE("a piece that is one kernel of a full wave takes twice as long beside 24 of 132 units") {
  CHECK_THAT(slowdown({1_ms, {{132, 1_ms}}}, ring), WithinRel(2.0, 1e-12));
}

TEST_CASE("of kernels that nobody knows the blocks a piece goes at the rate of the units left") {
  CHECK_THAT(slowdown({1_ms, {}}, ring), WithinRel(132.0 / 108.0, 1e-12));
  CHECK_THAT(Paces(Pace(1.0 - ring), nullptr)[7].time, WithinRel(132.0 / 108.0, 1e-12));
}

TEST_CASE("of what messages cost compute, the share that was seen takes the place of the law's") {
  WaveTable waves(132, {0.5, 0.0, true});
  const std::size_t mix = waves.add({1_ms, {{132, 1_ms}}});
  CHECK_THAT(waves.paces(ring)[mix].time, WithinRel(1.5, 1e-12));
  CHECK_THAT(waves.paces(ring)[0].time, WithinRel(1.0 + 0.5 * (132.0 / 108.0 - 1.0), 1e-12));
  CHECK(waves.paces(0.0)[mix].time == 1.0);
}

TEST_CASE("a piece takes the mean of its kernels, weighted by their times") {
  // A quarter is one wave that becomes two, a quarter fits into the units left, half is unknown.
  const KernelMix mix{4_ms, {{132, 1_ms}, {108, 1_ms}}};
  CHECK_THAT(slowdown(mix, ring), WithinRel(0.25 * 2 + 0.25 * 1 + 0.5 * 132.0 / 108.0, 1e-12));
}

TEST_CASE("more units held never make a piece faster, and half of them at most twice as slow") {
  const int units = GENERATE(80, 108, 113, 132);
  const std::int64_t blocks = GENERATE(1, 53, 54, 80, 107, 108, 132, 133, 300, 1056, 20'000);
  WaveTable table(units);
  const std::size_t known = table.add({1_ms, {{blocks, 1_ms}}});
  const std::size_t mixed = table.add({3_ms, {{blocks, 1_ms}, {2 * blocks, 1_ms}}});
  for (const std::size_t mix : {known, mixed}) {
    double before = 1.0;
    for (int held = 0; held <= units / 2; ++held) {
      const double now = table.paces(static_cast<double>(held) / units)[mix].time;
      CHECK(now >= before - 1e-12);
      before = now;
    }
    CHECK(before <= 2.0 + 1e-12);
  }
}

TEST_CASE("nothing is slowed where nothing is held") {
  WaveTable table(132);
  const std::size_t mix = table.add({2_ms, {{100, 1_ms}, {132, 0.1_ms}}});
  CHECK(table.paces(0.0)[mix].rate == 1.0);
  CHECK(table.paces(0.0)[0].rate == 1.0);
}

TEST_CASE("a second stream finds idle what the last waves leave, known kernels only") {
  WaveTable table(132);
  // Two waves of 132 units for 165 blocks: 99 of 264 places stay empty. Beside 24 units 216 places:
  // 51 of them.
  const std::size_t known = table.add({1_ms, {{165, 1_ms}}});
  CHECK_THAT(table.paces(0.0)[known].idle_share, WithinRel(99.0 / 264.0, 1e-12));
  CHECK_THAT(table.paces(ring)[known].idle_share, WithinRel(51.0 / 216.0, 1e-12));
  CHECK(table.paces(0.0)[0].idle_share == 0.0);
  // A quarter of the time alone: one full wave, two beside the message, 84 of 216 places empty.
  const std::size_t mixed = table.add({4_ms, {{132, 1_ms}}});
  CHECK(table.paces(0.0)[mixed].idle_share == 0.0);
  CHECK_THAT(table.paces(ring)[mixed].idle_share,
             WithinRel(2.0 * (84.0 / 216.0) / (2.0 + 3.0 * 132.0 / 108.0), 1e-12));
}

TEST_CASE("equal mixes have one number, and a mix of unknown kernels none") {
  WaveTable table(132);
  const KernelMix mix{1_ms, {{132, 1_ms}}};
  const std::size_t number = table.add(mix);
  CHECK(table.add({1_ms, {{131, 1_ms}}}) != number);
  CHECK(table.add(mix) == number);
  CHECK(table.add({1_ms, {}}) == 0);
}

TEST_CASE("many waves of known blocks come to the rate of the units left") {
  CHECK_THAT(slowdown({1_ms, {{1'320'000, 1_ms}}}, ring), WithinRel(132.0 / 108.0, 1e-4));
}

TEST_CASE("the blocks of a product in tiles that fill a unit are known") {
  const Gpu gpu = with_units(132);
  const KernelMix mix = forward_mix(full_wave(), gpu);
  REQUIRE(mix.known.size() == 1);
  CHECK(mix.known.front().blocks == 132);
  CHECK(mix.known.front().time == mix.all);
}

TEST_CASE("where a library's tiles or their residency are not known, no blocks are") {
  Gpu gpu = with_units(132);
  // Outside tensor cores, and where the sums of two blocks fit into a unit.
  CHECK(forward_mix(full_wave(), gpu, Precision::fp32).known.empty());
  CHECK(forward_mix(full_wave(), with_units(132, Architecture::blackwell)).known.empty());
  CHECK(forward_mix(full_wave(), with_units(132, Architecture::cdna3)).known.empty());
  // 320 x 320 is cheapest in small tiles.
  Operator small = full_wave();
  small.rows_per_sample = small.columns = 320;
  CHECK(forward_mix(small, gpu).known.empty());
  // A window of one element is the same product, but an implicit one.
  Operator convolution = full_wave();
  convolution.kind = OperatorKind::convolution;
  CHECK(forward_mix(convolution, gpu).known.empty());
  // One that waits for its memory is slowed as the units that move it are.
  gpu.memory_bandwidth = 1_GBps;
  CHECK(forward_mix(full_wave(), gpu).known.empty());
}

TEST_CASE("the plan of a transformer says what its pieces consist of, of a table in fp32 nothing") {
  Experiment job = test::small_job();
  const PreparedExperiment table(job);
  const StepPlan unknown = table.plan(job.plans[0]);
  for (const Piece& piece : unknown.stages[0].compute->backward) {
    CHECK(piece.work.mix == 0);
  }
  job.cluster.gpu = with_units(132);
  job.model = test::gpt(4, 4096, 32, 2048, 50304);
  job.training.precision = Precision::bf16;
  const PreparedExperiment transformer(job);
  const StepPlan plan = transformer.plan(job.plans[0]);
  REQUIRE(plan.stages[0].compute->backward.size() > 2);
  // Equal blocks are equal mixes. The limit is on neither side of every mix.
  const std::vector<Piece>& backward = plan.stages[0].compute->backward;
  const std::size_t block = backward[backward.size() / 2].work.mix;
  CHECK(block != 0);
  CHECK(backward[backward.size() / 2 - 1].work.mix == block);
  for (const Piece& piece : backward) {
    const double time = plan.paces(0, ring)[piece.work.mix].time;
    CHECK(time >= 1.0);
    CHECK(time <= 2.0);
  }
}
