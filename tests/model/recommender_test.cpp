// SPDX-License-Identifier: Apache-2.0
#include "model/recommender.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "model/experiment.hpp"
#include "model/interference.hpp"
#include "model/table_exchange.hpp"
#include "model/workload.hpp"
#include "tests/catch.hpp"
#include "tests/model/layers.hpp"
#include "tests/model/recommender_jobs.hpp"

using namespace payoff;
using namespace payoff::test::recommenders;
using Catch::Matchers::WithinRel;
using test::layer_named;

// Recommenders: which rank has which table, what goes where, what is held.

namespace {

RecommenderShape criteo() {
  return {"dlrm",
          13,
          {512, 256, 128},
          {{39884406, 39043,    17289,    7420,     20263,  3,     7120, 1543, 63,
            38532951, 2953546,  403346,   10,       2208,   11938, 155,  4,    976,
            14,       39979771, 25641295, 39664984, 585935, 12972, 108,  36},
           128},
          {1024, 1024, 512, 256, 1}};
}

// Bytes from each rank to each other and itself, parts of tables dealt to the ranks in turn.
std::vector<std::vector<double>> traffic_matrix(const RecommenderShape& shape, std::size_t ranks,
                                                int samples) {
  const auto cuts = cuts_of(shape.tables, static_cast<std::int64_t>(ranks));
  const std::size_t parts = static_cast<std::size_t>(cuts) * shape.tables.rows.size();
  std::vector<std::vector<double>> sent(ranks, std::vector<double>(ranks, 0.0));
  for (std::size_t part = 0; part < parts; ++part) {
    for (double& to : sent[part % ranks]) {
      to += samples * 4.0 * static_cast<double>(shape.tables.dimension / cuts);
    }
  }
  return sent;
}

}  // namespace

// facebookresearch/dlrm for MLPerf: 13-512-256-128, 26 tables of 128 columns, 479-1024-1024-512-
// 256-1 with 479 = 128 + 27 * 26 / 2.
TEST_CASE("DLRM of MLPerf has 24 billion parameters, all but 2.4 million in tables of 96 GB") {
  const RecommenderShape shape = criteo();
  CHECK(shape.top_inputs() == 479);
  const std::int64_t bottom = 14 * 512 + 513 * 256 + 257 * 128;
  const std::int64_t top = 480 * 1024 + 1025 * 1024 + 1025 * 512 + 513 * 256 + 257;
  const std::int64_t rows =
      std::accumulate(shape.tables.rows.begin(), shape.tables.rows.end(), std::int64_t{0});
  CHECK(parameter_count(shape) == rows * 128 + bottom + top);
  CHECK(recommender_workload(shape, 8, 4_B).parameters() == bottom + top);
  CHECK_THAT(static_cast<double>(table_elements(shape.tables)) * 4e-9, WithinRel(96.0, 0.01));
}

TEST_CASE("every rank gets a part of a table, cut by columns where tables do not suffice") {
  const EmbeddingTables tables = criteo().tables;
  for (const auto& [ranks, cuts] : std::vector<std::pair<int, int>>{
           {1, 1}, {8, 1}, {26, 1}, {27, 2}, {52, 2}, {53, 4}, {26 * 128, 128}}) {
    INFO(ranks << " ranks");
    CHECK(cuts_of(tables, ranks) == cuts);
  }
  CHECK(cuts_of(tables, 26 * 128 + 1) == 0);
}

TEST_CASE("the largest table left goes to the rank that holds least, of those with room") {
  const EmbeddingTables tables{{50, 100, 60}, 8};
  // Two of two: 100 alone, then 60, then 50 beside it.
  const TableDivision division = divide_tables(tables, 2);
  CHECK(division.busiest == 2);
  CHECK(division.fullest == 110 * 8 * 4_B);
  // With a number for each row, and with one for each element.
  EmbeddingTables kept = tables;
  kept.optimizer = RowOptimizer::rowwise_adagrad;
  CHECK(divide_tables(kept, 2).fullest_state == 110 * 4_B);
  kept.optimizer = RowOptimizer::adagrad;
  CHECK(divide_tables(kept, 2).fullest_state == 110 * 8 * 4_B);
}

TEST_CASE("no rank has two parts more than another, and the fullest holds a mean at least") {
  const EmbeddingTables tables = criteo().tables;
  const double all = static_cast<double>(table_elements(tables)) * 4;
  const double largest = 39979771.0 * 128 * 4;
  for (const int ranks : {1, 2, 3, 8, 16, 26, 32, 112, 1000}) {
    const TableDivision division = divide_tables(tables, ranks);
    INFO(ranks << " ranks");
    CHECK(division.busiest == (26 * division.cuts + ranks - 1) / ranks);
    CHECK(division.width * division.cuts == 128);
    CHECK(division.fullest / 1_B >= all / ranks * (1 - 1e-12));
    CHECK(division.fullest / 1_B >= largest / static_cast<double>(division.cuts) * (1 - 1e-12));
  }
}

TEST_CASE("what a rank sends for tables follows from who has which and who asks") {
  for (const auto& [tables, ranks] :
       std::vector<std::pair<int, int>>{{16, 8}, {26, 8}, {8, 8}, {6, 16}, {5, 4}}) {
    INFO(tables << " tables, " << ranks << " ranks");
    const RecommenderShape shape = shape_of(tables, 64);
    constexpr int samples = 32;
    const auto sent = traffic_matrix(shape, static_cast<std::size_t>(ranks), samples);
    double most = 0;
    double got = 0;
    for (const std::vector<double>& from : sent) {
      most = std::max(most, std::accumulate(from.begin(), from.end(), 0.0));
      got += from.front();
    }
    const Workload workload = recommender_workload(shape, ranks, 4_B);
    const TableExchange& exchange = *layer_named(workload, "bottom").exchange;
    CHECK_THAT(samples * exchange.sent_per_sample.si, WithinRel(most, 1e-12));
    CHECK_THAT(samples * exchange.received_per_sample.si, WithinRel(got, 1e-12));
    CHECK_THAT(got, WithinRel(samples * 4.0 * tables * 64, 1e-12));
    if (tables % ranks == 0) {  // all send alike: batch x tables x dimension x bytes x (W - 1) / W
      const double leaves = most - sent[0][0];
      CHECK_THAT(leaves, WithinRel(samples * 4.0 * tables * 64 * (ranks - 1) / ranks, 1e-12));
    }
  }
}

TEST_CASE("one rank looks up its tables for the samples of all, as fast as memory streams") {
  const Experiment job = job_of(shape_of(32, 64));  // 16 ranks, two tables each
  const auto workload = workload_of(job);
  const Operator& lookup = layer_named(*workload, "tables").forward.front();
  const ComputeContext context{job.cluster.gpu, job.software, Precision::fp32};
  const double asked = 16.0 * 256 * 2;
  const double forward = asked * (8 + 64 * 4 + 64 * 4);       // index, row, pooled vector
  const double backward = asked * (8 + 2 * 64 * 4 + 64 * 4);  // the row is written too
  const Seconds launches = 2 * 5_us;                          // one a table
  CHECK_THAT(forward_time(lookup, 256, context).si,
             WithinRel(forward / 0.8e12 + launches.si, 1e-9));
  CHECK_THAT(backward_time(lookup, 256, context).si,
             WithinRel(backward / 0.8e12 + launches.si, 1e-9));
}

TEST_CASE("rows shorter than a sector move a sector") {
  RecommenderShape narrow = shape_of(32, 2);
  RecommenderShape wide = shape_of(32, 8);
  const auto row_bytes = [](const RecommenderShape& shape) {
    const Workload workload = recommender_workload(shape, 32, 4_B);
    const double pooled = static_cast<double>(shape.tables.dimension) * 4;
    return workload.layers.front().forward.front().bytes_per_sample.si / 32 - 8 - pooled;
  };
  CHECK_THAT(row_bytes(narrow), WithinRel(32, 1e-12));
  CHECK_THAT(row_bytes(wide), WithinRel(32, 1e-12));
}

TEST_CASE("a GPU holds its tables and their optimizer state, but no gradients of them") {
  RecommenderShape shape = shape_of(32, 64);
  shape.tables.optimizer = RowOptimizer::rowwise_adagrad;
  const PreparedExperiment prepared(job_of(shape));
  const Memory memory = prepared.predict(prepared.experiment().plans.front()).memory;
  const std::int64_t mlp =
      14 * 256 + 257 * 64 + (64 + 33 * 32 / 2 + 1) * 512 + 513;  // F = 33 vectors
  const Bytes tables = 2 * 1000 * 64 * 4_B;
  CHECK(memory.parameters == static_cast<double>(mlp) * 4_B + tables);
  CHECK(memory.gradients == static_cast<double>(mlp) * 4_B);
  CHECK(memory.optimizer == static_cast<double>(mlp) * 4_B + 2 * 1000 * 4_B);
}

TEST_CASE("gradients of MLPs are summed, those of tables are not") {
  const PreparedExperiment prepared(job_of(shape_of(32, 64)));
  const StepPlan plan = prepared.plan(prepared.experiment().plans.front());
  std::int64_t summed = 0;
  for (const Bucket& bucket : plan.stages.front().buckets) {
    summed += plan.kind(bucket).elements;
    CHECK(plan.kind(bucket).rounds.front().message.kind == MessageKind::dp_gradients);
  }
  CHECK(summed == prepared.workload().parameters());
}

// Work of time C beside a message of time M that holds the share h of the units: together
// max(M, C + h M).
TEST_CASE("vectors of tables hide behind the bottom MLP, but for what holds its units") {
  const Experiment job = job_of(shape_of(32, 64));
  const Message whole = priced_message(MessageKind::table_activations, network_of(job),
                                       Collective::all_to_all, 8_MiB);
  REQUIRE(whole.channels > 0);
  const double held = reserved_share(whole.channels, job.cluster.gpu.compute_units);
  for (const double work : {0.1, 0.5, 0.9, 1.0, 2.0, 10.0}) {
    const Seconds alone = work * whole.alone;
    const Message exposed = exposed_beside(whole, alone, job.cluster.gpu);
    CHECK_THAT((alone + exposed.alone).si,
               WithinRel(std::max(whole.alone, alone + held * whole.alone).si, 1e-12));
    CHECK_THAT(exposed.size / exposed.alone / (whole.size / whole.alone), WithinRel(1.0, 1e-12));
  }
}

TEST_CASE("the plan of a recommender has one exchange forward and one backward") {
  const Experiment job = job_of(shape_of(26, 64));
  const PreparedExperiment prepared(job);
  const StepPlan plan = prepared.plan(job.plans.front());
  const Layer& bottom = layer_named(prepared.workload(), "bottom");
  // 26 tables on 16 ranks: two on the busiest, whose vectors of all 16 x 256 samples leave.
  const Message whole = priced_message(MessageKind::table_activations, network_of(job),
                                       Collective::all_to_all, 16.0 * 256 * 2 * 64 * 4_B);
  const ComputeContext context{job.cluster.gpu, job.software, Precision::fp32};
  for (const bool forward : {true, false}) {
    const auto messages = messages_of(forward ? plan.stages.front().compute->forward
                                              : plan.stages.front().compute->backward);
    REQUIRE(messages.size() == 1);
    const Seconds beside = time_beside_tables(bottom, forward, 256, context);
    CHECK(messages.front()->message == exposed_beside(whole, beside, job.cluster.gpu));
  }
}

TEST_CASE("one GPU has all tables and exchanges nothing") {
  Experiment job = job_of(shape_of(26, 64), {.nodes = 1});
  job.cluster.gpus_per_node = 1;
  job.layout.dp = 1;
  REQUIRE(check(job).empty());
  const PreparedExperiment prepared(job);
  const StepPlan plan = prepared.plan(job.plans.front());
  CHECK(messages_of(plan.stages.front().compute->forward).empty());
  CHECK(messages_of(plan.stages.front().compute->backward).empty());
  CHECK(layer_named(prepared.workload(), "tables").tables.weights == 26 * 1000 * 64 * 4_B);
}

TEST_CASE("a job that changes its ranks divides its tables anew") {
  const Experiment job = job_of(shape_of(26, 64));
  Experiment larger = job;
  larger.cluster.nodes = 8;
  larger.layout.dp = 32;
  PreparedExperiment changed(job);
  changed.change(numbers_of(larger));
  const PreparedExperiment anew(larger);
  const CompressionPlan& none = job.plans.front();
  CHECK(changed.predict(none).step == anew.predict(none).step);
  CHECK(changed.predict(none).memory.parameters == anew.predict(none).memory.parameters);
  CHECK(changed.predict(none).step != PreparedExperiment(job).predict(none).step);
}

TEST_CASE("layouts that make no sense for a recommender are refused all at once") {
  Experiment job = job_of(shape_of(26, 64));
  job.layout.dp = 1;
  job.layout.tp = 2;
  job.layout.pp = 4;
  job.layout.cp = 2;
  job.layout.zero = 1;
  job.layout.ep = 2;
  job.layout.recompute = Recompute::full;
  std::vector<std::string> paths;
  for (const Problem& problem : check(job)) {
    paths.push_back(problem.path);
  }
  for (const char* key : {"tp", "pp", "cp", "zero", "ep", "recompute"}) {
    INFO(key);
    CHECK(std::count(paths.begin(), paths.end(), std::string("layout.") + key) >= 1);
  }
}

TEST_CASE("more ranks than columns of tables are refused") {
  Experiment job = job_of(shape_of(1, 8));  // 16 ranks
  const Problems problems = check(job);
  REQUIRE(problems.size() == 1);
  CHECK(problems.front().path == "layout.dp");
}
