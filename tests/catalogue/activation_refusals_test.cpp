// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "model/experiment.hpp"
#include "tests/catalogue/methods.hpp"
#include "tests/catalogue/transformer_job.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

// Activations that cannot be compressed as asked, and what is said of them.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using test::compressed;

namespace {

Experiment with(Experiment job, const CompressionPlan& plan) {
  job.cluster.gpu.architecture = Architecture::hopper;  // NCCL adds every format there
  return test::with_plans(std::move(job), {plan});
}

std::string problem_of(const Experiment& job) {
  const Problems problems = check(job);
  return problems.empty() ? "" : problems.front().path + ": " + problems.front().message;
}

}  // namespace

TEST_CASE("activations that cannot be compressed are refused, naming the layer") {
  const Method encoder = test::method("autoencoder", {{"dim", 1024}});
  CHECK(problem_of(with(test::bert_large_job(2, 1),
                        compressed(encoder, Traffic::tp_activations, true, false, {12, 23}))) ==
        "compress.0: the activations of `block 12` (16384 x 1024) do not get smaller by "
        "`autoencoder`");
  // 8 bytes a factor of each sample: 16,384 r + 32 x 1,024 r values against 2 x 16,384 x 1,024.
  const Method low_rank = test::method("activation_powersgd", {{"rank", 86}});
  CHECK_THAT(problem_of(with(test::bert_large_job(1, 2),
                             compressed(low_rank, Traffic::pp_activations, true, true))),
             ContainsSubstring("the activations of `block 0` (16384 x 1024) do not get smaller"));
  CHECK(problem_of(with(test::bert_large_job(1, 2),
                        compressed(test::method("activation_powersgd", {{"rank", 85}}),
                                   Traffic::pp_activations, true, true)))
            .empty());
}

TEST_CASE("activations that nobody sends, or a method cannot send, are refused") {
  const Method encoder = test::method("autoencoder");
  const auto tensor = [&](bool backward, const BlockRange& blocks) {
    return compressed(encoder, Traffic::tp_activations, true, backward, blocks);
  };
  const auto pipeline = [&](bool backward, const BlockRange& blocks) {
    return compressed(encoder, Traffic::pp_activations, true, backward, blocks);
  };
  CHECK_THAT(problem_of(with(test::bert_large_job(1, 2), tensor(false, {}))),
             ContainsSubstring("tp is 1: no activations are summed"));
  CHECK_THAT(problem_of(with(test::bert_large_job(2, 1), pipeline(true, {}))),
             ContainsSubstring("pp is 1: no activations are sent to another stage"));
  CHECK_THAT(problem_of(with(test::bert_large_job(2, 1), tensor(false, {12, 24}))),
             ContainsSubstring("the model has blocks 0 to 23, `autoencoder` is to compress blocks "
                               "12-24"));
  CHECK_THAT(problem_of(with(test::bert_large_job(1, 2), pipeline(true, {12, 23}))),
             ContainsSubstring("none of the blocks that `autoencoder` is to compress sends"));
  CHECK_THAT(problem_of(with(test::bert_large_job(2, 1), tensor(true, {}))),
             ContainsSubstring("compresses gradients of what it has compressed"));
  CHECK_THAT(problem_of(with(test::bert_large_job(1, 2), pipeline(false, {}))),
             ContainsSubstring("has no gradients but those of what it has compressed"));
  Experiment scattered = test::bert_large_job(2, 1);
  scattered.layout.sequence_parallel = true;
  CHECK_THAT(problem_of(with(scattered, compressed(test::method("activation_powersgd"),
                                                   Traffic::tp_activations, true, false))),
             ContainsSubstring("sums in 2 rounds over whole tensors"));
}

TEST_CASE("chunks of a stage that would send differently are refused, naming the layer") {
  Experiment job = test::bert_large_job(1, 2);
  job.layout.virtual_stages = 2;  // blocks 0-5, 6-11, 12-17, 18-23
  CHECK_THAT(problem_of(with(job, compressed(test::method("autoencoder"), Traffic::pp_activations,
                                             true, true, {12, 23}))),
             ContainsSubstring("a stage sends the output of `block 17` compressed"));
  CHECK(problem_of(
            with(job, compressed(test::method("autoencoder"), Traffic::pp_activations, true, true)))
            .empty());
}
