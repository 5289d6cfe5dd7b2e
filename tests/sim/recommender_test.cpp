// SPDX-License-Identifier: Apache-2.0
#include "model/recommender.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/experiment.hpp"
#include "sim/step.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

// Recommenders in both engines: they share the plan, not the schedule.

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

Experiment job_of(int tables, int nodes, Bandwidth nic, bool overlap, int micro_batches) {
  Experiment job = test::small_job({.nodes = nodes, .nic = nic});
  const RecommenderShape shape{
      "dlrm",
      13,
      {512, 256, 64},
      {std::vector<std::int64_t>(static_cast<std::size_t>(tables), 100'000), 64},
      {1024, 512, 1}};
  job.model = recommender_workload(shape, 1, 4_B);
  job.layout.micro_batch = 512;
  job.layout.micro_batches = micro_batches;
  job.training.bucket = 1_MiB;
  job.training.overlap = overlap;
  CompressionPlan both = test::sparse(0.01, 2);
  Method sent = *test::shrink(20, 2).method;
  sent.granularity = Granularity::tensor;
  both.activations.push_back({sent, Traffic::embeddings, true, true, {}});
  CompressionPlan forward = test::shrink(4, 1);
  forward.activations.push_back({std::move(sent), Traffic::embeddings, true, false, {}});
  job.plans.push_back(std::move(both));
  job.plans.push_back(std::move(forward));
  return job;
}

}  // namespace

TEST_CASE("the engines agree on recommenders, to the tick where nothing runs beside") {
  for (const int tables : {5, 16, 26}) {
    for (const int nodes : {1, 2, 8}) {
      for (const Bandwidth nic : {1_Gbps, 10_Gbps, 400_Gbps}) {
        for (const bool overlap : {true, false}) {
          for (const int micro_batches : {1, 3}) {
            const Experiment job = job_of(tables, nodes, nic, overlap, micro_batches);
            const PreparedExperiment prepared(job);
            for (const CompressionPlan& compression : job.plans) {
              INFO(tables << " tables, " << nodes << " nodes, overlap " << overlap << ", "
                          << compression.label);
              const StepPlan plan = prepared.plan(compression);
              const sim::SimulatedStep simulated = sim::simulate(plan, {});
              const double difference =
                  std::abs(simulated.prediction.step.si - evaluate(plan).step.si);
              const double ticks = static_cast<double>(simulated.path_activities) * 1e-12;
              CHECK(difference <= (overlap ? 1e-3 * simulated.prediction.step.si : ticks));
              CHECK_THAT(simulated.prediction.ep_bytes.si,
                         WithinRel(evaluate(plan).ep_bytes.si, 1e-9));
            }
          }
        }
      }
    }
  }
}
