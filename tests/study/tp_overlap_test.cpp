// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/compute.hpp"
#include "model/experiment.hpp"
#include "model/groups.hpp"
#include "model/interference.hpp"
#include "sim/step.hpp"
#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"
#include "tests/problem_paths.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;
using payoff::test::problems_of;

// Messages of sequence parallelism in pieces, each beside the product of another piece
// (layout.tp_overlap).

namespace {

constexpr int blocks = 4;

Experiment job_with(int pieces, std::int64_t hidden = 4096, std::int64_t sequence = 2048) {
  Experiment job = test::small_job();
  job.model = test::gpt(blocks, hidden, 32, sequence, 32000);
  job.layout.tp = 4;
  job.layout.dp = 4;
  job.layout.sequence_parallel = true;
  job.layout.tp_overlap = pieces;
  job.training.precision = Precision::fp16;
  job.training.gradient = Precision::fp16;
  return job;
}

StepPlan plan_of(const Experiment& job) {
  REQUIRE(check(job).empty());
  return PreparedExperiment(job).plan(job.plans[0]);
}

std::vector<Message> sums_of(const std::vector<Piece>& pieces) {
  std::vector<Message> messages;
  for (const Piece& piece : pieces) {
    if (piece.message.kind == MessageKind::tp_activations && piece.message.size > 0_B) {
      messages.push_back(piece.message);
    }
  }
  return messages;
}

// The date at which the last of two stages of a pipeline is through, piece by piece: the second
// stage takes up a piece when it is free and the first one has given it.
Seconds through_two_stages(int pieces, Seconds first, Seconds second) {
  Seconds given;
  Seconds through;
  for (int piece = 0; piece < pieces; ++piece) {
    given += first;
    through = std::max(through, given) + second;
  }
  return through;
}

struct Expected {
  Seconds most;   // where all pieces of the product are slowed
  Seconds least;  // where none is
};

// Of a message beside a product, forward.
Expected expected(const Experiment& job, Collective collective, Bytes size, const Operator& whole) {
  const ComputeContext compute{job.cluster.gpu, job.software, job.training.precision};
  const int pieces = job.layout.tp_overlap;
  Operator part = whole;
  part.rows_per_sample /= pieces;
  const CollectiveModel network(job.cluster, tensor_group(job.layout, 4));
  const CollectivePrice message = network.price(collective, size / pieces);
  const double left = 1 - reserved_share(message.channels, job.cluster.gpu.compute_units);
  const Seconds alone = forward_time(part, job.layout.micro_batch, compute);
  const Seconds product = forward_time(whole, job.layout.micro_batch, compute);
  return {through_two_stages(pieces, message.time, alone / left) - product,
          through_two_stages(pieces, message.time, alone) - product};
}

}  // namespace

TEST_CASE("what a message in pieces adds to a product is a pipeline of the two, less the product") {
  const int pieces = GENERATE(2, 4, 16);
  const Experiment job = job_with(pieces);
  const StepPlan plan = plan_of(job);
  const StepPlan whole = plan_of(job_with(1));
  const auto exposed = sums_of(plan.stages[0].compute->forward);
  const auto all = sums_of(whole.stages[0].compute->forward);
  REQUIRE(exposed.size() == all.size());
  const auto workload = workload_of(job);
  const Layer& block = workload->layers[1];
  // Embedding first; then of every block a scatter and a gather after attention and the MLP.
  for (std::size_t i = 2; i < exposed.size(); ++i) {
    const std::size_t sync = (i - 2) / 2 % 2;
    const bool scatters = all[i].collective == Collective::reduce_scatter;
    const Operator& product =
        block.forward[scatters ? block.syncs[sync].after : block.syncs[1 - sync].before];
    const Expected bounds = expected(job, all[i].collective, all[i].size, product);
    CHECK(exposed[i].alone <= (1 + 1e-12) * bounds.most);
    CHECK(exposed[i].alone >= (1 - 1e-12) * bounds.least);
    CHECK(exposed[i].size <= all[i].size);
  }
}

TEST_CASE("one piece is none, and leaves everything as it was") {
  Experiment job = job_with(1);
  Experiment never = job;
  never.layout = ParallelLayout{.dp = 4, .tp = 4, .sequence_parallel = true};
  job.layout = never.layout;
  job.layout.tp_overlap = 1;
  CHECK(PreparedExperiment(job).predict(job.plans[0]).step ==
        PreparedExperiment(never).predict(never.plans[0]).step);
}

TEST_CASE("products longer than messages hide most of them, and too many pieces are slower again") {
  const auto exposed = [](int pieces) {
    const Experiment job = job_with(pieces);
    return PreparedExperiment(job).predict(job.plans[0]).waterfall.exposed_tp;
  };
  CHECK(exposed(4) < exposed(1));
  CHECK(exposed(1024) > exposed(4));
}

TEST_CASE("the engines agree on messages in pieces") {
  for (const int pieces : {2, 8}) {
    Experiment job = job_with(pieces, 1024, 512);
    job.layout.pp = 2;
    job.layout.dp = 2;
    job.layout.micro_batches = 4;
    const StepPlan plan = plan_of(job);
    const StepPrediction evaluated = PreparedExperiment(job).predict(job.plans[0]);
    const sim::SimulatedStep simulated = sim::simulate(plan, {});
    CHECK_THAT(simulated.prediction.step / evaluated.step, WithinRel(1.0, 1e-3));
    CHECK_THAT(evaluated.waterfall.total() / evaluated.step, WithinRel(1.0, 1e-12));
  }
}

TEST_CASE("pieces that cannot be are refused, all reasons at once") {
  using Paths = std::vector<std::string>;
  Experiment whole = job_with(3);  // 2,048 tokens
  whole.layout.sequence_parallel = false;
  CHECK(problems_of(whole) == Paths{"layout.tp_overlap", "layout.tp_overlap"});
  CHECK(problems_of(job_with(0)) == Paths{"layout.tp_overlap"});
  Experiment alone = job_with(2);
  alone.layout.tp = 1;
  alone.layout.dp = 16;
  alone.layout.sequence_parallel = false;
  CHECK(problems_of(alone) == Paths{"layout.tp_overlap"});
}

// 2048 tokens in N pieces, each of them in equal parts for the 4 ranks of the group.
TEST_CASE("pieces have as many tokens for every rank of the group") {
  Experiment job = job_with(512);
  job.layout.micro_batch = 1;
  CHECK(check(job).empty());
  for (const int pieces : {3, 1024, 2048}) {
    job.layout.tp_overlap = pieces;
    const Problems problems = check(job);
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].path == "layout.tp_overlap");
    CHECK(problems[0].help == "choose a divisor of 512");
  }
}
