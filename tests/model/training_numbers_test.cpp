// SPDX-License-Identifier: Apache-2.0
#include "model/training_numbers.hpp"

#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

// A shape on so many A100s, each with a part of the batch that makes whole samples.
Experiment job(const TransformerShape& shape, int gpus, double global_batch, Recompute recompute) {
  Experiment experiment;
  experiment.model = shape;
  experiment.cluster.gpus_per_node = 8;
  experiment.cluster.nodes = gpus / 8;
  experiment.cluster.gpu.peak[Precision::bf16] = 312_TFLOPps;
  experiment.cluster.gpu.power = {400};
  experiment.layout.dp = gpus;
  experiment.layout.recompute = recompute;
  experiment.layout.micro_batches = static_cast<int>(global_batch) / gpus;
  return experiment;
}

constexpr double s = 2048;
constexpr double l = 96;
constexpr double h = 12288;
constexpr double v = 51200;

TransformerShape gpt3() { return test::gpt(96, 12288, 96, 2048, 51200); }

}  // namespace

TEST_CASE("model FLOPs are 72 s l h^2 (1 + s / 6h + V / 12lh) for a sample of a GPT") {
  // Korthikanti et al. 2022.
  const TrainingWork work = training_work(job(gpt3(), 1024, 1024, Recompute::none));
  const double expected = 72 * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h));
  CHECK_THAT(work.model.si, WithinRel(expected, 1e-12));
  CHECK(work.hardware == work.model);
  CHECK(work.tokens == s);
}

TEST_CASE("full recomputation makes them 96 s l h^2 (1 + s / 6h + V / 16lh)") {
  // Narayanan et al. 2021, section 5.1 and appendix: blocks run forward twice, the head once.
  const TrainingWork work = training_work(job(gpt3(), 1024, 1024, Recompute::full));
  const double expected = 96 * s * l * h * h * (1 + s / (6 * h) + v / (16 * l * h));
  CHECK_THAT(work.hardware.si, WithinRel(expected, 1e-12));
}

TEST_CASE("selective recomputation runs attention's forward products again") {
  // Two products of 2 s^2 h each in forward, and twice as many in backward.
  const TrainingWork work = training_work(job(gpt3(), 1024, 1024, Recompute::selective));
  CHECK_THAT((work.hardware - work.model).si, WithinRel(l * 2 * 2 * s * s * h, 1e-9));
}

TEST_CASE("software may run every other product again instead, and keep attention") {
  // Of a block's products Q K V, output, up and down: h^2 and 4 h^2 of 12 h^2.
  Experiment again = job(gpt3(), 1024, 1024, Recompute::selective);
  again.software.recomputes_products = true;
  const TrainingWork work = training_work(again);
  CHECK_THAT((work.hardware - work.model).si, WithinRel(l * s * 2 * 5 * h * h, 1e-9));
}

TEST_CASE("the utilisations of MPT-70B on 64 A100 are those that its authors print") {
  // mosaicml/llm-foundry at 8c8dd48, scripts/train/benchmarking/README.md line 164: 26,274 tokens/s
  // with full recomputation are MFU 53.33 % and HFU 71.1 %. They count the head's forward again.
  const TransformerShape mpt = test::gpt(80, 8192, 64, 2048, 50368);
  const Experiment experiment = job(mpt, 64, 2048, Recompute::full);
  const TrainingWork work = training_work(experiment);
  const Seconds step = 2048 * 2048 / 26274.0 * 1_s;
  const TrainingNumbers numbers = training_numbers(experiment, work, step);
  CHECK_THAT(numbers.tokens_per_second, WithinRel(26274.0, 1e-9));
  CHECK_THAT(numbers.samples_per_second, WithinRel(26274.0 / 2048, 1e-9));
  CHECK_THAT(*numbers.model_utilisation_ratio, WithinRel(0.5333, 2e-3));
  CHECK_THAT(*numbers.hardware_utilisation_ratio, WithinRel(0.711, 5e-3));
}

TEST_CASE("GPT-3 at 140 TFLOP/s a GPU on 1,024 A100 takes 300 G tokens 34 days") {
  // Narayanan et al. 2021, section 5.1, which counts 8 T P / (n X).
  const Experiment batch = job(gpt3(), 1024, 2048, Recompute::full);
  const TrainingWork work = training_work(batch);
  const Seconds step = 2048 * work.hardware / (1024 * 140_TFLOPps);
  CHECK_THAT(training_numbers(batch, work, step).hardware_rate_per_gpu / 1_TFLOPps,
             WithinRel(140.0, 1e-9));
  const TrainingRun run = training_run(batch, work, step, 300e9, {});
  CHECK_THAT(run.time / 1_s / 86400, WithinRel(34.0, 0.03));
  CHECK_FALSE(run.cost_usd);
}

TEST_CASE("a training has whole steps, and its energy and cost go with its time") {
  Experiment experiment = job(gpt3(), 16, 32, Recompute::none);
  const TrainingWork work = training_work(experiment);
  const double batch = 32 * s;
  CHECK(training_run(experiment, work, 1_s, batch, {}).steps == 1);
  CHECK(training_run(experiment, work, 1_s, batch + 1, {}).steps == 2);
  const TrainingRun run = training_run(experiment, work, 1_s, 3600 * batch, {12.0 / 3600});
  CHECK_THAT(run.gpu_hours, WithinRel(16.0, 1e-12));
  CHECK_THAT(*run.energy_kwh, WithinRel(16 * 0.4, 1e-12));
  CHECK_THAT(*run.cost_usd, WithinRel(2 * 12.0, 1e-12));  // two nodes for an hour
  experiment.cluster.gpu.power = {};
  CHECK_FALSE(training_run(experiment, work, 1_s, batch, {}).energy_kwh);
}

TEST_CASE("how a model is divided changes nothing of its work") {
  Experiment experiment = job(gpt3(), 64, 64, Recompute::selective);
  const TrainingWork whole = training_work(experiment);
  experiment.layout.dp = 1;
  experiment.layout.tp = 8;
  experiment.layout.pp = 4;
  experiment.layout.cp = 2;
  const TrainingWork divided = training_work(experiment);
  CHECK(divided.model == whole.model);
  CHECK(divided.hardware == whole.hardware);
  CHECK(divided.tokens == whole.tokens);
}
