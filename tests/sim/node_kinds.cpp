// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/node_kinds.hpp"

#include <utility>

#include "model/node_kinds.hpp"
#include "sim/platform.hpp"
#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"
#include "tests/study/experiments.hpp"

namespace payoff::test {

Cluster split(const Cluster& cluster, const std::vector<int>& nodes) {
  Cluster mixed = cluster;
  for (const int count : nodes) {
    Cluster& kind = mixed.kinds.emplace_back(cluster);
    kind.nodes = count;
  }
  return mixed;
}

void settle(Cluster& cluster) {
  std::vector<Cluster> kinds = std::move(cluster.kinds);
  const int nodes = cluster.nodes;
  cluster = kinds.front();
  cluster.nodes = nodes;
  cluster.kinds = std::move(kinds);
}

void make_faster(Gpu& gpu, double factor) {
  for (FlopRate& peak : gpu.peak.values) {
    peak *= factor;
  }
  gpu.memory_bandwidth *= factor;
}

// A GPT on four nodes of four GPUs.
Experiment gpt_job(int pp) {
  Experiment job = small_job({.nic = 100_Gbps});
  job.model = gpt(16, 1024, 16, 512, 32000);
  job.training.precision = Precision::fp16;
  job.training.gradient = Precision::fp16;
  job.software.fused_attention = true;
  job.layout.pp = pp;
  job.layout.dp = 16 / pp;
  job.layout.micro_batches = 8;
  return job;
}

// The last two nodes with GPUs so many times as fast.
Experiment with_fast_half(Experiment job, double factor) {
  job.cluster = split(job.cluster, {2, 2});
  make_faster(job.cluster.kinds[1].gpu, factor);
  return job;
}

Experiment on_kind(Experiment job, std::size_t kind) {
  const std::size_t one[] = {kind};
  job.cluster = nodes_of(job.cluster, one);
  return job;
}

Seconds step_of(const Experiment& job, std::size_t plan, const NcclPin& pin) {
  REQUIRE(check(job).empty());
  return PreparedExperiment(job, pin).predict(job.plans[plan]).step;
}

sim::SimulatedStep simulated(const StepPlan& plan, const Experiment& job) {
  return sim::simulate(plan, sim::Platform(job.cluster, job.layout));
}

}  // namespace payoff::test
