// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "model/experiment.hpp"
#include "tests/model/shapes.hpp"
#include "tests/study/experiments.hpp"

// T5 at its published sizes: width h, heads of i = a d together, feed-forward f; and jobs of it.

namespace payoff::test::t5_jobs {

struct Sizes {
  double layers, h, f, a, d;
  double i() const { return a * d; }
};

inline TransformerShape shape_of(const Sizes& sizes) {
  const auto whole = [](double size) { return std::llround(size); };
  return test::t5(whole(sizes.layers), whole(sizes.h), whole(sizes.f), whole(sizes.a),
                  whole(sizes.d));
}

constexpr Sizes small{6, 512, 2048, 8, 64};
constexpr Sizes base{12, 768, 3072, 12, 64};
constexpr Sizes large{24, 1024, 4096, 16, 64};
constexpr Sizes xl{24, 1024, 16384, 32, 128};
constexpr Sizes xxl{24, 1024, 65536, 128, 128};

inline Experiment job_of(const TransformerShape& shape, int tp, bool sequence_parallel = false) {
  Experiment job = test::small_job();
  job.model = shape;
  job.layout.tp = tp;
  job.layout.dp = job.cluster.gpus() / tp;
  job.layout.sequence_parallel = sequence_parallel;
  job.training.precision = Precision::fp16;
  job.training.gradient = Precision::fp16;
  return job;
}

inline Seconds step_of(const Experiment& job) {
  return PreparedExperiment(job).predict(job.plans.front()).step;
}

}  // namespace payoff::test::t5_jobs
