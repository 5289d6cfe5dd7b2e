// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "model/evaluate.hpp"
#include "sim/step.hpp"
#include "tests/catch.hpp"
#include "tests/sim/compare_engines.hpp"
#include "tests/sim/random_plans.hpp"

// What the comparison of the engines finds of mistakes that are put into a plan or a step.

using namespace payoff;
using payoff::test::compare;

namespace {

constexpr int replicas = 1000;
constexpr int pipelines = 400;

// Every stage by itself, its inputs as early as without gradients.
Seconds step_without_delays(const StepPlan& plan) {
  const std::vector<StageEnd> ends = pipeline_ends(plan);
  Seconds step;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const StagePlan& stage = plan.stages[s];
    step = std::max(step, ends[s].start + overlap_gradients(plan, s, ends[s].last).finish +
                              stage.gather_time() + stage.optimizer.alone + plan.host);
  }
  return step;
}

}  // namespace

TEST_CASE("a planted mistake of overlap is found by the comparison of the engines", "[once]") {
  struct Mistake {
    const char* what;
    void (*plant)(StepPlan&);
  };
  constexpr Mistake mistakes[] = {
      {"a bucket is ready one piece early",
       [](StepPlan& plan) {
         for (Bucket& bucket : plan.stages.front().buckets) {
           bucket.ready_after = std::max(0, bucket.ready_after - 1);
         }
       }},
      {"gradients wait for the end of backward", [](StepPlan& plan) { plan.overlap = false; }},
      {"messages hold no compute units", [](StepPlan& plan) { plan.reserved_share = 0; }},
      {"kernels of known blocks are slowed as unknown ones",
       [](StepPlan& plan) { plan.waves = nullptr; }},
      {"a codec on the side stream runs on the compute stream",
       [](StepPlan& plan) {
         if (has_own_stream(plan.placement)) {
           plan.placement = Placement::compute_stream;
         }
       }},
      {"the decoder of a bucket is forgotten",
       [](StepPlan& plan) {
         for (BucketKind& kind : plan.kinds) {
           kind.decode.alone = kind.decode.bucket_copy = {};
         }
       }},
      {"messages have the memory to themselves",
       [](StepPlan& plan) {
         for (BucketKind& kind : plan.kinds) {
           for (BucketRound& round : kind.rounds) {
             round.message.memory_share = 0;
           }
         }
       }},
      {"the memory is shared with no codec",
       [](StepPlan& plan) {
         for (BucketKind& kind : plan.kinds) {
           kind.decode.memory_share = 0;
           for (BucketRound& round : kind.rounds) {
             round.encode.memory_share = 0;
           }
         }
       }},
      {"messages run on the compute stream",
       [](StepPlan& plan) {
         for (BucketKind& kind : plan.kinds) {
           for (BucketRound& round : kind.rounds) {
             round.encode.alone += round.message.alone;
             round.message.alone = {};
           }
         }
       }},
  };
  for (const Mistake& mistake : mistakes) {
    int found = 0;
    for (int seed = 1; seed <= replicas; ++seed) {
      const auto [plan, traits] = test::random_replicas(static_cast<std::uint64_t>(seed));
      StepPlan wrong = plan;
      mistake.plant(wrong);
      found += compare(plan, wrong).agrees(traits) ? 0 : 1;
    }
    std::printf("planted: %s: found in %d of %d plans\n", mistake.what, found, replicas);
    INFO(mistake.what);
    CHECK(found >= replicas / 10);
  }
}

TEST_CASE("a planted mistake of the pipeline is found by the comparison of the engines", "[once]") {
  struct Mistake {
    const char* what;
    Seconds (*step)(const StepPlan&);
  };
  constexpr Mistake mistakes[] = {
      {"what gradients add to a stage delays no other", step_without_delays},
      {"sends hold no compute units",
       [](const StepPlan& plan) {
         StepPlan wrong = plan;
         wrong.send_share = 0.0;
         return evaluate(wrong).step;
       }},
      {"the ends of a pipeline do not wait for each other",
       [](const StepPlan& plan) {
         StepPlan wrong = plan;
         wrong.tied_gradients = {};
         wrong.stages.front().gather_weights.alone += plan.tied_gradients.alone;
         wrong.stages.back().gather_weights.alone += plan.tied_gradients.alone;
         return evaluate(wrong).step;
       }},
      {"the ends of a pipeline sum nothing",
       [](const StepPlan& plan) {
         StepPlan wrong = plan;
         wrong.tied_gradients = {};
         return evaluate(wrong).step;
       }},
      {"chunks pass their gradients on as one block at the end",
       [](const StepPlan& plan) {
         std::vector<StageEnd> ends = pipeline_ends(plan);
         for (StageEnd& end : ends) {
           for (StageOperation& operation : end.last) {
             operation.completes_gradients =
                 operation.completes_gradients && &operation == &end.last.back();
           }
         }
         return evaluate(plan, ends).step;
       }},
  };
  for (const Mistake& mistake : mistakes) {
    int found = 0;
    for (int seed = 1; seed <= pipelines; ++seed) {
      const auto [plan, traits] = test::random_pipeline(static_cast<std::uint64_t>(seed));
      const Seconds step = sim::simulate(plan, {}).prediction.step;
      found += std::abs(mistake.step(plan) / step - 1) > 1e-3 ? 1 : 0;
    }
    std::printf("planted: %s: found in %d of %d pipelines\n", mistake.what, found, pipelines);
    INFO(mistake.what);
    CHECK(found >= pipelines / 10);
  }
}
