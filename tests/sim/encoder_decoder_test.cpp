// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "model/evaluate.hpp"
#include "model/experiment.hpp"
#include "sim/step.hpp"
#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"
#include "tests/sim/random_plans.hpp"
#include "tests/study/experiments.hpp"

// An encoder with a decoder in both engines.

using namespace payoff;

namespace {

constexpr int jobs = 200;

Experiment random_job(std::uint64_t seed) {
  test::Random random(seed);
  Experiment job = test::small_job({.nodes = 1 << random.integer(0, 2)});
  TransformerShape shape = test::t5(random.integer(1, 4), 512, 1024, 8, 64);
  shape.decoder.layers = random.integer(1, 4);
  shape.decoder.sequence = 16 * random.integer(1, 32);
  shape.gated = random.chance(50);
  shape.tied_embeddings = random.chance(50);
  job.model = shape;
  ParallelLayout& layout = job.layout;
  layout.tp = 1 << random.integer(0, 2);
  const std::int64_t blocks = shape.layers + shape.decoder.layers;
  test::Random pipelines(~seed);  // numbers of its own: all else is what it was without pipelines
  layout.pp = static_cast<int>(std::min({static_cast<std::int64_t>(job.cluster.gpus() / layout.tp),
                                         std::int64_t{1} << pipelines.integer(0, 2), blocks}));
  layout.pp = layout.pp == 3 ? 2 : layout.pp;
  test::Random contexts(seed ^ 0x5DEECE66DULL);  // likewise
  if (job.cluster.gpus() > layout.tp * layout.pp && contexts.chance(40)) {
    layout.cp = 2;
    layout.context_exchange =
        contexts.chance(50) ? ContextExchange::ring : ContextExchange::all_to_all;
  }
  layout.dp = job.cluster.gpus() / (layout.tp * layout.pp * layout.cp);
  layout.sequence_parallel = layout.tp > 1 && random.chance(50);
  layout.tp_overlap = layout.sequence_parallel && random.chance(30) ? 2 : 1;
  layout.micro_batch = random.integer(1, 4);
  layout.micro_batches = random.integer(1, 3);
  if (layout.pp > 1) {
    layout.schedule = static_cast<PipelineSchedule>(pipelines.integer(0, 3));
    layout.micro_batches *= layout.pp;
  }
  layout.zero = layout.dp > 1 ? random.integer(0, 3) : 0;
  layout.recompute = static_cast<Recompute>(random.integer(0, 2));
  job.training.precision = Precision::fp16;
  job.training.gradient = Precision::fp16;
  job.training.overlap = random.chance(80);
  if (layout.dp > 1 && layout.zero == 0) {
    return test::with_plans(std::move(job), {test::shrink(8, 2)});
  }
  return job;
}

}  // namespace

TEST_CASE("the engines agree on encoders with a decoder") {
  for (int seed = 1; seed <= jobs; ++seed) {
    const Experiment job = random_job(static_cast<std::uint64_t>(seed));
    const Problems problems = check(job);
    INFO("job of seed " << seed << (problems.empty() ? "" : problems.front().message));
    REQUIRE(problems.empty());
    const PreparedExperiment prepared(job);
    for (const CompressionPlan& compression : job.plans) {
      const StepPlan plan = prepared.plan(compression);
      const sim::SimulatedStep simulated = sim::simulate(plan, {});
      const StepPrediction evaluated = evaluate(plan);
      const double ticks = std::abs(simulated.prediction.step.si - evaluated.step.si) * 1e12;
      const bool interferes = test::traits_of(plan).interference;
      INFO(compression.label << ": " << ticks << " ticks of " << simulated.path_activities);
      CHECK(std::abs(simulated.prediction.step / evaluated.step - 1) < 1e-3);
      CHECK((interferes || ticks <= static_cast<double>(simulated.path_activities)));
      CHECK(simulated.prediction.dp_bytes == evaluated.dp_bytes);
    }
  }
}
