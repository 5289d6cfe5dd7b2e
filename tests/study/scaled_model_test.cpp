// SPDX-License-Identifier: Apache-2.0
#include "study/scaled_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <variant>
#include <vector>

#include "model/transformer.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

using test::transformer_job;

const TransformerShape& shape_of(const Experiment& job) {
  return std::get<TransformerShape>(job.model);
}

}  // namespace

TEST_CASE("the own size of a model is the model as it is") {
  const Experiment job = transformer_job();
  const auto same = with_parameters(job, parameters_of(job));
  REQUIRE(same);
  CHECK(shape_of(*same).layers == 32);
  CHECK(shape_of(*same).hidden == 4096);
  CHECK(shape_of(*same).feed_forward == 4 * 4096);
}

TEST_CASE("a model with eight times the weights of its blocks is twice as deep and wide") {
  const Experiment job = transformer_job();
  // 12 l h^2 in the blocks, and the embeddings with the width.
  const double blocks = 12.0 * 32 * 4096 * 4096;
  const double ends = parameters_of(job) - blocks;
  const auto large = with_parameters(job, 8 * blocks + 2 * ends);
  REQUIRE(large);
  CHECK(shape_of(*large).layers == 64);
  CHECK(shape_of(*large).heads == 64);
  CHECK(shape_of(*large).hidden == 8192);
  CHECK(shape_of(*large).head_size == 128);
  CHECK(shape_of(*large).feed_forward == 4 * 8192);
}

TEST_CASE(
    "sizes ascend between the ends, the model's own among them, and the layout divides them") {
  Experiment job = transformer_job();
  job.layout.tp = 4;
  job.layout.pp = 2;
  job.layout.dp = 2;
  job.layout.micro_batches = 4;
  REQUIRE(check(job).empty());
  const std::vector<double> sizes = model_sizes(job, 1e9, 100e9, 8);
  REQUIRE(sizes.size() > 8);
  CHECK(sizes.front() >= 1e9);
  CHECK(sizes.back() <= 100e9);
  CHECK(std::count(sizes.begin(), sizes.end(), parameters_of(job)) == 1);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    CHECK((i == 0 || sizes[i] > sizes[i - 1]));
    const auto scaled = with_parameters(job, sizes[i]);
    REQUIRE(scaled);
    CHECK(parameters_of(*scaled) == sizes[i]);
    CHECK(shape_of(*scaled).layers % 2 == 0);
    CHECK(shape_of(*scaled).heads % 4 == 0);
  }
}

TEST_CASE("a larger model with grouped queries is wider too, its heads of keys as many as before") {
  // As Llama 3 70B is built: 80 blocks, 64 heads of 128, which share 8 of keys, four ranks a
  // layer.
  Experiment job = transformer_job();
  TransformerShape shape = shape_of(job);
  shape.layers = 80;
  shape.hidden = 8192;
  shape.heads = 64;
  shape.kv_heads = 8;
  shape.feed_forward = 28672;
  job.model = shape;
  job.layout.tp = 4;
  job.layout.pp = 2;
  job.layout.dp = 2;
  job.layout.micro_batches = 4;
  REQUIRE(check(job).empty());
  const double own = parameters_of(job);
  double last = 0;
  for (const double times : {0.25, 0.5, 2.0, 4.0}) {
    const auto scaled = with_parameters(job, times * own);
    REQUIRE(scaled);
    const TransformerShape& there = shape_of(*scaled);
    CHECK(there.kv_heads == 8);
    CHECK(there.heads % 8 == 0);
    CHECK(there.hidden == 128 * there.heads);
    // Blocks hold about depth times width squared: each grows with the cube root.
    CHECK_THAT(static_cast<double>(there.heads) / 64, WithinRel(std::cbrt(times), 0.12));
    CHECK_THAT(static_cast<double>(there.layers) / 80, WithinRel(std::cbrt(times), 0.12));
    CHECK(parameters_of(*scaled) > last);
    last = parameters_of(*scaled);
  }
}

TEST_CASE("a table of layers and measured times of layers have one size, and say so") {
  CHECK_FALSE(unscalable(test::small_job()).empty());
  CHECK_FALSE(with_parameters(test::small_job(), 1e9));
  Experiment measured = transformer_job();
  measured.layer_times.push_back({"block", 1, 1, 1, 1, 1, 1_ms, 2_ms});
  CHECK_FALSE(unscalable(measured).empty());
  CHECK(model_sizes(measured, 1e8, 1e12, 4).empty());
}
