// SPDX-License-Identifier: Apache-2.0
#include "study/fitting_layout.hpp"

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;

namespace {

// GPT of 1.2 G parameters, of which Adam in mixed precision keeps 16 to 20 bytes each.
Experiment transformer_job(Bytes memory) {
  Experiment job = test::small_job();
  job.model = test::gpt(24, 2048, 16, 1024, 51200);
  job.cluster.gpu = test::ideal_gpu();
  job.cluster.gpu.memory = memory;
  job.training.precision = Precision::bf16;
  job.training.gradient = Precision::bf16;
  job.training.optimizer_bytes_per_parameter = 12_B;
  job.layout.micro_batch = 1;
  job.layout.micro_batches = 4;
  return job;
}

bool fits(const Experiment& job) {
  return PreparedExperiment(job).predict(job.plans.front()).memory.fits();
}

}  // namespace

TEST_CASE("a job that fits needs no other layout") {
  REQUIRE(fits(transformer_job(80_GB)));
  CHECK_FALSE(nearest_fitting_layout(transformer_job(80_GB)));
}

TEST_CASE(
    "the nearest layout fits, on the same GPUs with the same batch, and fewer changes do not") {
  const Experiment job = transformer_job(16_GB);
  REQUIRE_FALSE(fits(job));
  const auto nearest = nearest_fitting_layout(job);
  REQUIRE(nearest);
  Experiment changed = job;
  changed.layout = nearest->layout;
  CHECK(check(changed).empty());
  CHECK(fits(changed));
  CHECK(nearest->memory.fits());
  CHECK(changed.layout.ranks() == job.layout.ranks());
  CHECK(changed.layout.global_batch() == job.layout.global_batch());
  // One change is enough: it names one thing.
  CHECK(nearest->changes.find(',') == std::string::npos);
  // Others that fit with one change are no faster.
  for (int zero = 1; zero <= 3; ++zero) {
    Experiment other = job;
    other.layout.zero = zero;
    if (fits(other)) {
      CHECK(PreparedExperiment(other).predict(other.plans.front()).step >= nearest->step);
    }
  }
}

TEST_CASE("what no layout makes fit has no nearest one") {
  CHECK_FALSE(nearest_fitting_layout(transformer_job(100_MB)));
}

TEST_CASE("less memory never asks for fewer changes") {
  std::size_t before = 0;
  for (const Bytes memory : {16_GB, 6_GB, 3_GB, 1.5_GB}) {
    const auto nearest = nearest_fitting_layout(transformer_job(memory));
    if (!nearest) {
      break;
    }
    const auto commas =
        static_cast<std::size_t>(std::count(nearest->changes.begin(), nearest->changes.end(), ','));
    CHECK(commas >= before);
    before = commas;
  }
}
