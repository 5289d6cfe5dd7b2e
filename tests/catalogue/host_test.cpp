// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/evaluate.hpp"
#include "model/experiment.hpp"
#include "model/host_codec.hpp"
#include "sim/step.hpp"
#include "tests/catalogue/methods.hpp"
#include "tests/catch.hpp"
#include "tests/model/recommender_jobs.hpp"
#include "tests/study/experiments.hpp"

// Methods that run on the host.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
namespace recommenders = payoff::test::recommenders;

namespace {

const std::vector<std::string> on_host{"dgc_host",         "dgc_servers",  "efsignsgd_host",
                                       "elias_servers",    "onebit_host",  "onebit_servers",
                                       "parameter_server", "randomk_host", "randomk_servers",
                                       "sketchml_servers", "topk_servers"};

Experiment job_on_host(const Method& method, int gpus_per_node) {
  CompressionPlan plan;
  plan.label = method.name;
  plan.method = method;
  Experiment job = test::with_plans(test::small_job({.nodes = 4}), {plan});
  job.cluster.gpus_per_node = gpus_per_node;
  job.cluster.host.cores = 48;
  job.layout.dp = job.cluster.gpus();
  return job;
}

// zhuangwang93/Espresso at a0294e3, byteps/compressor_microbenchmark/log, in us, from 2^23
// elements on: beyond any cache. Random-K and DGC keep 1 %.
struct Logged {
  std::string method;
  std::vector<double> compress;
  std::vector<double> decompress;
};
const std::vector<Logged> log_of_espresso{
    {"randomk_host", {9632, 21112, 43156, 92372}, {3652, 10068, 18968, 38427}},
    {"dgc_host", {17000, 32924, 65359, 134170}, {4517, 9645, 18731, 38245}},
    {"efsignsgd_host", {8585, 17353, 34964, 71289}, {2862, 5853, 11816, 24972}},
    {"onebit_host", {8956, 17846, 35053, 73655}, {3089, 6330, 12223, 26167}}};

}  // namespace

TEST_CASE("every shipped method that runs on the host is among those tested here") {
  std::vector<std::string> names;
  for (const auto& [name, profile] : test::catalogue()) {
    if (runs_on_host(profile.profile.value)) {
      names.push_back(name);
    }
  }
  CHECK(names == on_host);
}

TEST_CASE("loops of the host take what Espresso logged, within the interval that they claim") {
  // Its program adds the error, and does not update it; of one worker, on a machine of its own.
  for (const Logged& logged : log_of_espresso) {
    const Method method = test::method(logged.method, {{"updates_error", 0}});
    const double most = std::exp(1.645 * method.law.relative_sd);
    for (std::size_t i = 0; i < logged.compress.size(); ++i) {
      const ParameterTensor tensor{std::int64_t{1} << (23 + i), 1, false};
      const CallCost cost = compress(method, {&tensor, 1}, 4_B, 1, 1);
      const auto us = [&](const PassCost& pass) {
        return host_time(pass, *method.host, Host{48, {}}, 1) / 1_us;
      };
      INFO(logged.method << ", 2^" << 23 + i);
      const double encode = us(cost.rounds[1].encode) / logged.compress[i];
      const double decode = us(cost.rounds[2].encode) / logged.decompress[i];
      CHECK(std::max(encode, 1 / encode) < most);
      CHECK(std::max(decode, 1 / decode) < most);
    }
  }
}

TEST_CASE("methods of the host send between hosts what their code packs") {
  // BytePS and Espresso: pairs of 8 bytes; one bit an element, and one or two floats.
  const std::vector<ParameterTensor> tensor{{std::int64_t{8} << 20, 1, false}};
  const Workers group{32, 8};
  const double part = 1 << 20;
  const std::map<std::string, double> packed{{"dgc_host", 8 * std::ceil(0.01 * part)},
                                             {"randomk_host", 8 * std::ceil(0.01 * part)},
                                             {"efsignsgd_host", part / 8 + 4},
                                             {"onebit_host", part / 8 + 8}};
  for (const auto& [name, bytes] : packed) {
    CHECK_THAT(test::sent(test::method(name), tensor, 4_B, group, 1) / 1_B,
               WithinRel(bytes, 1e-12));
  }
}

TEST_CASE(
    "servers beside the workers take 2 (n - 1) / n of the gradients, of their own half of that") {
  // Jiang et al., OSDI 2020, section 2, for n workers and as many servers; here of each NIC, both
  // ways together, in two rounds of which a collective moves (n - 1) / n.
  const std::vector<ParameterTensor> tensor{{std::int64_t{8} << 20, 1, false}};
  const Workers group{32, 8};
  const double nodes = 4;
  const double part = 4.0 * (1 << 20);
  for (const double servers : {0.0, 4.0, 8.0, 2.0, 1.0}) {
    const Method method = test::method("parameter_server", {{"servers", servers}});
    const CallCost cost = compress(method, tensor, 4_B, group.all, group.in_node);
    const double pushed = cost.rounds[1].message / 1_B;
    const double pulled = nodes * (cost.rounds[2].message / 1_B);  // gathered
    const double moved = (pushed + pulled) * (nodes - 1) / nodes;
    // Fewer servers than nodes take what all workers push, a part of it each.
    const double asked = servers > 0 ? std::max(1.0, nodes / servers) : 2 * (nodes - 1) / nodes;
    CHECK_THAT(moved, WithinRel(asked * part, 1e-12));
  }
  // In one node nothing goes to servers.
  CHECK(compress(test::method("parameter_server"), tensor, 4_B, 8, 8).dense_message ==
        4 * part * 2 * 1_B);
}

TEST_CASE("the engines agree to the tick on every method that runs on the host") {
  for (const std::string& name : on_host) {
    for (const int gpus : {1, 4}) {
      for (const Placement placement :
           {Placement::compute_stream, Placement::side_stream, Placement::after_backward}) {
        Experiment job = job_on_host(test::method(name), gpus);
        job.plans.back().placement = placement;
        INFO(name << ", " << gpus << " GPUs a node");
        const Problems problems = check(job);
        INFO((problems.empty() ? "" : problems.front().message));
        REQUIRE(problems.empty());
        StepPlan plan = PreparedExperiment(job).plan(job.plans.back());
        plan.reserved_share = 0;
        for (StagePlan& stage : plan.stages) {  // copies take nothing from work
          auto compute = std::make_shared<StageCompute>(*stage.compute);
          for (Piece& piece : compute->backward) {
            piece.work.memory_share = 0;
          }
          stage.compute = compute;
        }
        const sim::SimulatedStep simulated = sim::simulate(plan, {});
        const Seconds evaluated = evaluate(plan).step;
        const double ticks = std::abs(simulated.prediction.step.si - evaluated.si) * 1e12;
        if (placement != Placement::side_stream) {
          CHECK(ticks <= static_cast<double>(simulated.path_activities));
        }
        CHECK(ticks * 1e-12 <= 1e-3 * evaluated.si);
      }
    }
  }
}

TEST_CASE("a recommender sends neurons of vectors, and its MLPs' gradients through servers") {
  // DCT (Gupta et al., KDD 2021) synchronises data parallelism through a parameter server.
  Experiment job = recommenders::job_of(recommenders::shape_of(32, 64), {.nodes = 4});
  CompressionPlan plan =
      test::compressed(test::method("dct_neurons"), Traffic::embeddings, true, true);
  plan.label = "DCT";
  plan.method = test::method("topk_servers");
  plan.placement = Placement::after_backward;
  job = test::with_plans(std::move(job), {plan});
  job.cluster.host.cores = 48;
  REQUIRE(check(job).empty());
  const PreparedExperiment prepared(job);
  const StepPlan dense = prepared.plan(job.plans.front());
  StepPlan step = prepared.plan(job.plans.back());
  step.reserved_share = 0;
  // Push, sum, pull: all-to-all and all-gather between nodes, one inside them before and after.
  for (const BucketKind& kind : step.kinds) {
    CHECK(kind.rounds.size() >= 2);
  }
  CHECK(prepared.predict(job.plans.back()).ep_bytes <
        0.1 * prepared.predict(job.plans.front()).ep_bytes);
  CHECK(dense.kinds.size() == step.kinds.size());
  const sim::SimulatedStep simulated = sim::simulate(step, {});
  const double ticks = std::abs((simulated.prediction.step - evaluate(step).step).si) * 1e12;
  CHECK(ticks <= static_cast<double>(simulated.path_activities));
}

TEST_CASE("eight GPUs of a node share its cores") {
  // 48 cores leave each of 8 GPUs 6, more than the 4 threads that one starts; 16 leave 2.
  const Method method = test::method("efsignsgd_host");
  PassCost pass;
  pass.on_host = true;
  pass.bytes = 1_GB;
  const Seconds alone = host_time(pass, *method.host, Host{48, {}}, 8);
  CHECK_THAT(alone / 1_s, WithinRel(1e9 / (4 * 6e9), 1e-12));
  CHECK_THAT(host_time(pass, *method.host, Host{16, {}}, 8) / alone, WithinRel(2.0, 1e-12));
  pass.bytes = 0_B;
  pass.block_bytes = 1_GB;  // one thread has a core of its own, or half of one
  const Seconds one = host_time(pass, *method.host, Host{8, {}}, 8);
  CHECK_THAT(host_time(pass, *method.host, Host{4, {}}, 8) / one, WithinRel(2.0, 1e-12));
}

TEST_CASE("what cannot run on the host is refused with the reason") {
  Experiment job = job_on_host(test::method("dgc_host"), 4);
  job.cluster.host.cores = 0;
  Problems problems = check(job);
  REQUIRE(problems.size() == 1);
  CHECK_THAT(problems[0].message, ContainsSubstring("how many cores"));
  CHECK(problems[0].help == "set cluster.host.cores");
  job.cluster.host.cores = 48;
  CHECK(check(job).empty());

  Method method = test::method("dgc_host");
  method.rounds[1].among = Among::all;
  method.host.reset();
  problems.clear();
  check_host_passes(method, problems);
  REQUIRE(problems.size() >= 2);
  CHECK(problems[0].path == "rounds[1].encode");
  CHECK_THAT(problems[0].message, ContainsSubstring("only rounds among `nodes` send"));
}
