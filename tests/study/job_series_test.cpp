// SPDX-License-Identifier: Apache-2.0
#include "study/job_series.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;

namespace {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  template <typename T, std::size_t Size>
  T of(const std::array<T, Size>& values) {
    return values.at(random_() % Size);
  }

 private:
  std::mt19937_64 random_;
};

// A third of the numbers stay as they are.
JobNumbers other_numbers(JobNumbers numbers, const Experiment& like, Draw& draw) {
  constexpr std::array often{false, true, true};
  if (draw.of(often)) {
    numbers.nodes = draw.of(std::array{1, 2, 4, 16});
    const ParallelLayout& layout = like.layout;
    numbers.dp = std::max(
        1, numbers.nodes * like.cluster.gpus_per_node / (layout.tp * layout.cp * layout.pp));
  }
  if (draw.of(often)) {
    numbers.nic = draw.of(std::array{1_Gbps, 25_Gbps, 400_Gbps});
  }
  if (draw.of(often)) {
    numbers.fabric = draw.of(std::array{16_GBps, 300_GBps});
  }
  if (draw.of(often)) {
    numbers.nics_per_node = draw.of(std::array{1, 4});
  }
  if (draw.of(often)) {
    numbers.micro_batches = draw.of(std::array{1, 2, 8});
  }
  if (draw.of(often)) {
    numbers.micro_batch = draw.of(std::array{1, 3});
  }
  if (draw.of(often)) {
    numbers.bucket = draw.of(std::array{1_MiB, 25_MiB});
  }
  return numbers;
}

// Every number of both, bit for bit.
bool are_equal(const StepPrediction& a, const StepPrediction& b) {
  const Waterfall& v = a.waterfall;
  const Waterfall& w = b.waterfall;
  return a.step == b.step && v.total() == w.total() && v.interference == w.interference &&
         v.exposed_dp == w.exposed_dp && v.exposed_pp == w.exposed_pp &&
         v.exposed_tp == w.exposed_tp && v.bubble == w.bubble && v.encode == w.encode &&
         v.optimizer == w.optimizer && a.dp_communication == b.dp_communication &&
         a.hidden_dp == b.hidden_dp && a.dp_bytes == b.dp_bytes && a.tp_bytes == b.tp_bytes &&
         a.pp_bytes == b.pp_bytes && a.memory.total() == b.memory.total();
}

void check_series(const Experiment& experiment, std::uint64_t seed) {
  Draw draw(seed);
  JobSeries series(experiment);
  JobNumbers numbers = numbers_of(experiment);
  std::size_t compared = 0;
  for (int job = 0; job < 60; ++job) {
    numbers = other_numbers(numbers, experiment, draw);
    Experiment fresh = experiment;
    set_numbers(numbers, fresh);
    Experiment alone = fresh;
    alone.plans.resize(1);
    if (!check(alone).empty()) {
      continue;
    }
    series.change(numbers);
    const PreparedExperiment prepared(fresh);
    for (std::size_t plan = 0; plan < fresh.plans.size(); ++plan) {
      INFO(seed << ' ' << job << ' ' << plan);
      CHECK(are_equal(series.predict(plan), prepared.predict(fresh.plans[plan])));
      ++compared;
    }
  }
  CHECK(compared >= 40);
}

}  // namespace

TEST_CASE("a series of data-parallel jobs predicts what each prepared by itself predicts") {
  const Experiment job = test::with_plans(
      test::small_job(), {test::shrink(4, 2), test::two_rounds(8, 1), test::sparse(0.01, 3)});
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    check_series(job, seed);
  }
}

TEST_CASE("a series of pipelines with tensor groups does, within nodes and over several") {
  Experiment job = test::with_plans(test::small_job({.nodes = 8}), {test::shrink(4, 2)});
  job.model = TransformerShape{.name = "small",
                               .family = TransformerFamily::gpt,
                               .layers = 8,
                               .hidden = 1024,
                               .heads = 16,
                               .kv_heads = 16,
                               .head_size = 64,
                               .feed_forward = 4096,
                               .vocabulary = 51200,
                               .positions = 512,
                               .sequence = 512};
  job.layout.pp = 2;
  job.layout.virtual_stages = 2;
  job.layout.micro_batches = 8;
  for (const int tp : {2, 8}) {
    job.layout.tp = tp;
    job.layout.dp = 32 / 2 / tp;
    check_series(job, static_cast<std::uint64_t>(tp));
  }
}

TEST_CASE("a series of jobs with sharded states and weights does") {
  Experiment job = test::small_job();
  for (const int zero : {1, 2, 3}) {
    job.layout.zero = zero;
    check_series(job, static_cast<std::uint64_t>(zero));
  }
}
