// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <random>
#include <vector>

#include "tests/catalogue/methods.hpp"
#include "tests/catch.hpp"

// How often GRACE's encoders try another threshold (sands-lab/grace at fd3a7f4, compressor/dgc.py
// and adaq.py), counted by running their loop on drawn gradients: independent normal values whose
// scales differ between elements as a log-normal variable of spread 1 does.

using namespace payoff;

namespace {

struct Job {
  int n{};
  double ratio{};
};

using Random = std::mt19937_64;

struct Outcome {
  int tries{};
  double threshold{};
};

// One call: the smallest of the largest k of a sample of 1 %, then higher by a quarter or lower by
// a tenth until between 0.8 and 1.25 times `aim` values are beyond it.
Outcome choose(const std::vector<double>& magnitudes, double sample, double k, double aim,
               Random& random) {
  std::uniform_int_distribution<std::size_t> any(0, magnitudes.size() - 1);
  std::vector<double> drawn(static_cast<std::size_t>(sample));
  for (double& value : drawn) {
    value = magnitudes[any(random)];
  }
  std::ranges::sort(drawn, std::greater<>{});
  Outcome out{0, drawn[static_cast<std::size_t>(k) - 1]};
  const auto beyond = [&] {
    return static_cast<double>(std::ranges::count_if(
        magnitudes, [&](double magnitude) { return magnitude > out.threshold; }));
  };
  double count = beyond();
  while (out.tries < 20 && (count > 1.25 * aim || count < 0.8 * aim)) {
    out.threshold *= count > 1.25 * aim ? 1.25 : 0.9;
    count = beyond();
    ++out.tries;
  }
  if (count < 1) {
    out.threshold *= 0.8;
  }
  return out;
}

class Gradients {
 public:
  explicit Gradients(int n) : random_(static_cast<std::uint64_t>(n)) {
    std::lognormal_distribution<double> scale(0, 1);
    for (int i = 0; i < n; ++i) {
      scales_.push_back(scale(random_));
    }
  }
  double draw(std::size_t i) { return scales_[i] * normal_(random_); }
  Random& random() { return random_; }

 private:
  Random random_;
  std::normal_distribution<double> normal_;
  std::vector<double> scales_;
};

constexpr int counted_steps = 40;

// Steps until what waits for its turn is as it stays: a value waits 1 / ratio steps.
int steps_before(const Job& job) { return static_cast<int>(4 / job.ratio) + 20; }

double tries_of_dgc(const Job& job) {
  const auto n = static_cast<std::size_t>(job.n);
  Gradients gradients(job.n);
  std::vector<double> momentum(n);
  std::vector<double> waiting(n);
  double tries = 0;
  for (int step = -steps_before(job); step < counted_steps; ++step) {
    std::vector<double> magnitudes(n);
    for (std::size_t i = 0; i < n; ++i) {
      momentum[i] = 0.9 * momentum[i] + gradients.draw(i);
      waiting[i] += momentum[i];
      magnitudes[i] = std::abs(waiting[i]);
    }
    const Outcome out = choose(magnitudes, std::max(1.0, std::floor(0.01 * job.n)),
                               std::max(1.0, std::floor(0.01 * job.ratio * job.n)),
                               std::max(1.0, std::floor(job.ratio * job.n)), gradients.random());
    tries += step < 0 ? 0 : out.tries;
    for (std::size_t i = 0; i < n; ++i) {
      if (magnitudes[i] > out.threshold) {
        momentum[i] = waiting[i] = 0;
      }
    }
  }
  return tries / counted_steps;
}

// Takes the mean of the chosen off each of them.
void keep_errors(std::vector<double>& waiting, double sign, double threshold) {
  double sum = 0;
  double count = 0;
  for (const double value : waiting) {
    if (sign * value > threshold) {
      sum += value;
      count += 1;
    }
  }
  for (double& value : waiting) {
    if (sign * value > threshold) {
      value -= sum / count;
    }
  }
}

double tries_of_adaq(const Job& job, bool error_feedback) {
  Gradients gradients(job.n);
  std::vector<double> waiting(static_cast<std::size_t>(job.n));
  double tries = 0;
  for (int step = error_feedback ? -steps_before(job) : 0; step < counted_steps; ++step) {
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      waiting[i] = (error_feedback ? waiting[i] : 0) + gradients.draw(i);
    }
    for (const double sign : {1.0, -1.0}) {
      std::vector<double> magnitudes;
      std::ranges::copy_if(waiting, std::back_inserter(magnitudes),
                           [&](double value) { return sign * value > 0; });
      std::ranges::for_each(magnitudes, [&](double& value) { value = std::abs(value); });
      const auto size = static_cast<double>(magnitudes.size());
      const Outcome out =
          choose(magnitudes, std::ceil(0.01 * size), std::ceil(0.01 * job.ratio * size),
                 std::ceil(job.ratio * size), gradients.random());
      tries += step < 0 ? 0 : out.tries / 2.0;
      if (error_feedback) {
        keep_errors(waiting, sign, out.threshold);
      }
    }
  }
  return tries / counted_steps;
}

double host_syncs(const Method& method, int n) {
  const ParameterTensor tensor{n, 1, false};
  return compress(method, {&tensor, 1}, 4_B, 8, 1).rounds.front().encode.host_syncs;
}

const std::vector<Job> jobs{{64, 0.01}, {512, 0.01}, {4096, 0.01}, {16384, 0.01},
                            {64, 0.1},  {512, 0.1},  {4096, 0.1},  {16384, 0.1},
                            {64, 0.25}, {512, 0.25}, {4096, 0.25}, {16384, 0.25},
                            {64, 0.5},  {512, 0.5},  {4096, 0.5},  {16384, 0.5}};

}  // namespace

// The formulas are two lines for a loop that rounds whole numbers: right within three tries or a
// third of them, where the loop takes up to twelve.
TEST_CASE("DGC tries as many thresholds as its loop does on drawn gradients") {
  for (const Job& job : jobs) {
    INFO(job.n << " values, ratio " << job.ratio);
    const double ours = (host_syncs(test::method("dgc", {{"ratio", job.ratio}}), job.n) - 2) / 2;
    const double loop = tries_of_dgc(job);
    CHECK(std::abs(ours - loop) <= std::max(3.0, loop / 3));
  }
}

TEST_CASE("AdaQ tries as many thresholds as its loop does on drawn gradients") {
  for (const Job& job : jobs) {
    for (const bool error_feedback : {false, true}) {
      INFO(job.n << " values, ratio " << job.ratio << ", error feedback " << error_feedback);
      const Method method =
          test::method("adaq", {{"ratio", job.ratio}, {"error_feedback", error_feedback ? 1 : 0}});
      const double ours = (host_syncs(method, job.n) / 2 - 5) / 2;
      const double loop = tries_of_adaq(job, error_feedback);
      CHECK(std::abs(ours - loop) <= std::max(3.0, loop / 3));
    }
  }
}
