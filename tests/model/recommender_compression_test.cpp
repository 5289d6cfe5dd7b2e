// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "model/experiment.hpp"
#include "model/interference.hpp"
#include "model/table_exchange.hpp"
#include "model/workload.hpp"
#include "tests/catch.hpp"
#include "tests/model/layers.hpp"
#include "tests/model/method_file.hpp"
#include "tests/model/recommender_jobs.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using namespace payoff::test::recommenders;
using Catch::Matchers::WithinRel;
using test::layer_named;

// Recommenders: what compression leaves of the vectors of tables and of the MLPs' gradients.

namespace {

CompressionPlan on_embeddings(Method method, bool forward = true, bool backward = true) {
  CompressionPlan plan;
  plan.label = method.name;
  plan.activations.push_back({std::move(method), Traffic::embeddings, forward, backward, {}});
  return plan;
}

}  // namespace

// Each sample's 2 x 64 values from one rank: ceil(0.025 x 128) = 4 of them, with 4-byte positions.
TEST_CASE("a share of each sample's values travels, forward with positions, backward without") {
  Experiment job = job_of(shape_of(32, 64), {.nic = 0.1 * 1_Gbps});
  Method method = method_file::load("dct_neurons");
  const std::vector<std::string> names = formula_names(method.parameters);
  OtherFormulas backward;
  backward.rounds.push_back(
      {{},
       Collective::all_to_all,
       Expression::parse("v * rows * ceil(density * columns)", names).expression});
  method.backward = backward;
  job.plans.push_back(on_embeddings(method));
  REQUIRE(check(job).empty());
  const PreparedExperiment prepared(job);
  const StepPlan plan = prepared.plan(job.plans.back());
  const Layer& bottom = layer_named(prepared.workload(), "bottom");
  const ComputeContext context{job.cluster.gpu, job.software, Precision::fp32};
  const double rows = 16.0 * 256;
  for (const bool forward : {true, false}) {
    const Bytes size = rows * 4 * (forward ? 8_B : 4_B);
    const Message whole = priced_message(MessageKind::table_activations, network_of(job),
                                         Collective::all_to_all, size);
    const auto messages = messages_of(forward ? plan.stages.front().compute->forward
                                              : plan.stages.front().compute->backward);
    REQUIRE(messages.size() == 1);
    CHECK(messages.front()->work.kind == WorkKind::encode);
    CHECK(
        messages.front()->message ==
        exposed_beside(whole, time_beside_tables(bottom, forward, 256, context), job.cluster.gpu));
  }
}

TEST_CASE("with the defaults of DCT vectors of tables take a twentieth, gradients a hundredth") {
  const Method neurons = method_file::load("dct_neurons");
  const ParameterTensor vectors{4096, 640, true};
  const CallCost sent = compress(neurons, {&vectors, 1}, 4_B, 1, 1);
  CHECK_THAT(sent.rounds.front().message / (4096.0 * 640 * 4_B), WithinRel(1.0 / 20, 1e-12));
  const Method threshold = method_file::load("dct_threshold");
  const ParameterTensor gradient{1024, 1000, true};
  const CallCost gathered = compress(threshold, {&gradient, 1}, 4_B, 16, 4);
  CHECK_THAT(gathered.rounds.front().message / (1024.0 * 1000 * 4_B), WithinRel(1e-2, 1e-12));
}

TEST_CASE("a threshold that holds longer costs less to choose") {
  const ParameterTensor gradient{1024, 1000, true};
  const auto encoded = [&](double refresh) {
    const Method method = method_file::load("dct_threshold", {{"refresh", refresh}});
    return compress(method, {&gradient, 1}, 4_B, 16, 4).rounds.front().encode.bytes / 1_B;
  };
  // Absolute values read and written, then a radix selection: once a digit and twice to collect.
  const double selection = (2 * 4 + (4 + 2) * 4) * 1024.0 * 1000;
  CHECK_THAT(encoded(1) - encoded(2), WithinRel(selection / 2, 1e-9));
  CHECK_THAT(encoded(1) - encoded(1000), WithinRel(selection * 0.999, 1e-9));
}

TEST_CASE("vectors of tables are compressed in recommenders alone, by sample") {
  const Method method = method_file::load("dct_neurons");
  Experiment dense = test::small_job();
  dense.plans.push_back(on_embeddings(method));
  CHECK(check(dense).size() == 1);

  Experiment job = job_of(shape_of(32, 64));
  job.plans.push_back(on_embeddings(method));
  CHECK(check(job).empty());
  job.plans.back().activations.front().blocks = {0, 3};
  CHECK(check(job).size() == 1);
  // One value of 4096 samples: no part of each.
  job.plans.back() = on_embeddings(method_file::load("activation_topk", {{"k", 5000}}));
  CHECK(check(job).size() == 1);
}
