// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

#include <malloc.h>

#include "model/evaluate.hpp"
#include "model/experiment.hpp"
#include "sim/step.hpp"
#include "sim/topology_platform.hpp"
#include "tests/catch.hpp"
#include "tests/sim/plans.hpp"
#include "tests/sim/random_plans.hpp"
#include "tests/study/experiments.hpp"

// What is asked for memory before a run, and what the run takes: every allocation of this program
// is counted, as large as the heap made it.

namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
std::size_t in_use = 0;
std::size_t most = 0;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

void* counted(void* memory) {
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  in_use += ::malloc_usable_size(memory) + sizeof(std::size_t);
  most = std::max(most, in_use);
  return memory;
}

void give_back(void* memory) noexcept {
  if (memory != nullptr) {
    in_use -= ::malloc_usable_size(memory) + sizeof(std::size_t);
    std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc)
  }
}

}  // namespace

// NOLINTBEGIN(cppcoreguidelines-no-malloc)
void* operator new(std::size_t size) {
  return counted(std::malloc(std::max<std::size_t>(1, size)));
}
void* operator new(std::size_t size, std::align_val_t align) {
  const auto unit = static_cast<std::size_t>(align);
  return counted(
      std::aligned_alloc(unit, (std::max<std::size_t>(1, size) + unit - 1) / unit * unit));
}
// NOLINTEND(cppcoreguidelines-no-malloc)
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }

using namespace payoff;

namespace {

struct MemoryOfRun {
  Bytes estimated;
  Bytes taken;

  [[nodiscard]] double ratio() const { return estimated / taken; }
};

// Of a job's first strategy with the analytical answer beside it, from its plan to its end.
MemoryOfRun memory_of(const Experiment& job, const ClusterState& state,
                      const sim::PlatformRules& rules) {
  const PreparedExperiment prepared(job);
  const std::size_t before = in_use;
  most = in_use;
  MemoryOfRun result;
  {
    const StepPlan plan = prepared.plan(job.plans.back());
    const sim::BuiltPlatform built = sim::build_platform(job.cluster, state, plan, rules);
    REQUIRE(built.problems.empty());
    result.estimated = sim::estimate(plan, built.platform).memory;
    (void)prepared.predict(plan);
    (void)sim::simulate(plan, built.platform);
  }
  result.taken = Bytes{static_cast<double>(most - before)};
  return result;
}

ClusterState links_of(const Cluster& cluster) {
  ClusterState state;
  state.topology = topology_of(cluster);
  state.topology->balance = Balance::ideal;
  return state;
}

}  // namespace

// Below that what is kept once and not counted (the beginnings of queues, names) is most of it.
constexpr Bytes worth_asking{1e5};

struct Ratios {
  std::vector<double> all;

  void add(const MemoryOfRun& memory) {
    if (memory.taken >= worth_asking) {
      all.push_back(memory.ratio());
    }
  }
  void check(const char* what) {
    REQUIRE_FALSE(all.empty());
    std::sort(all.begin(), all.end());
    std::printf(
        "%s: %zu runs, asked for %.2f (least), %.2f (median), %.2f (most) of what they take\n",
        what, all.size(), all.front(), all[all.size() / 2], all.back());
    CHECK(all.front() >= 0.5);
    CHECK(all.back() <= 2);
  }
};

TEST_CASE("a run takes half to twice the memory that it is announced with") {
  Ratios listed;
  Ratios steps;
  for (int seed = 1; seed <= 60; ++seed) {
    const Experiment job = test::random_experiment(static_cast<std::uint64_t>(seed));
    const ClusterState state = links_of(job.cluster);
    listed.add(memory_of(job, state, {.folds = false, .reduces = false, .steps = false}));
    steps.add(memory_of(job, state, {.folds = false, .reduces = false, .steps = true}));
  }
  for (const int nodes : {4, 8, 16, 32, 64}) {
    const Experiment job = test::small_job({.nodes = nodes});
    const ClusterState state = links_of(job.cluster);
    listed.add(memory_of(job, state, {.folds = false, .reduces = false, .steps = false}));
    steps.add(memory_of(job, state, {.folds = false, .reduces = false, .steps = true}));
  }
  listed.check("messages, rank by rank");
  steps.check("sends");
}

namespace {

// With the analytical answer beside it.
MemoryOfRun memory_of(const StepPlan& plan) {
  const std::size_t before = in_use;
  most = in_use;
  (void)evaluate(plan);
  (void)sim::simulate(plan, {});
  return {sim::estimate(plan).memory, Bytes{static_cast<double>(most - before)}};
}

}  // namespace

TEST_CASE("a pipeline of many micro-batches takes the memory that it is announced with") {
  Ratios ratios;
  for (const int micro_batches : {1000, 10'000, 100'000}) {
    StepPlan plan = test::pipeline(8, micro_batches, 1, 1_ms, 2_ms);
    // 1F1B repeats itself and keeps as little as a short one.
    CHECK(memory_of(plan).taken < 2 * worth_asking);
    plan.layout.schedule = PipelineSchedule::zb_h1;
    ratios.add(memory_of(plan));
  }
  ratios.check("micro-batches");
}

TEST_CASE("what queues before slow sends is in the memory that a run is announced with") {
  const auto schedule = GENERATE(PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b);
  const int stages = GENERATE(2, 8);
  Ratios ratios;
  Bytes most_taken;
  for (const int micro_batches : {1000, 10'000, 60'000}) {
    StepPlan plan = test::pipeline(stages, micro_batches, 1, 1_ms, 2_ms);
    plan.layout.schedule = schedule;
    for (const Seconds send : {0_s, 5_ms}) {
      for (StagePlan& stage : plan.stages) {
        stage.send_forward = {MessageKind::pp_activations, Collective::send_recv, 1_MB, send, 0, 0};
        stage.send_backward = stage.send_forward;
      }
      const MemoryOfRun memory = memory_of(plan);
      most_taken = std::max(most_taken, memory.taken);
      ratios.add(memory);
    }
  }
  if (schedule == PipelineSchedule::gpipe) {
    ratios.check("queues of sends");
  } else {
    CHECK(most_taken < 2 * worth_asking);  // no stage runs further ahead than its warm-up
  }
}
