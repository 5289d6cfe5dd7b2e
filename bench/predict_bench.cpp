// SPDX-License-Identifier: Apache-2.0

// How long a prediction takes: two jobs, several layouts of each (the layout is what a search
// varies), and the strategies compared on each. Every prediction uses another layout than the one
// before it. Preparation (layers and collectives priced, buckets cut, pipeline run) happens once a
// layout and is reported apart from the strategies that share it.
//
// Seconds depend on the machine, so every time is also given in units of a pinned piece of
// arithmetic that runs in the same process: one thousand dependent square roots.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "bench/job.hpp"
#include "model/experiment.hpp"

namespace {

using namespace payoff;

// Keeps results alive; printed, so that nothing is optimised away.
double checksum = 0.0;

using Clock = std::chrono::steady_clock;

Seconds since(Clock::time_point start) {
  return {std::chrono::duration<double>(Clock::now() - start).count()};
}

// Shortest of many runs of `body`, each of a few milliseconds at most: what the code costs, not
// what else the machine did.
Seconds time_of(const std::function<void()>& body) {
  constexpr Seconds patience = 1_s;
  const auto begin = Clock::now();
  Seconds best{1e300};
  for (int run = 0; run < 5 || since(begin) < patience; ++run) {
    const auto start = Clock::now();
    body();
    best = std::min(best, since(start));
  }
  return best;
}

void pinned_arithmetic() {
  double value = 1.0 + checksum * 1e-300;
  for (int i = 0; i < 1000; ++i) {
    value = std::sqrt(value + i);
  }
  checksum += value;
}

struct Job {
  std::string title;
  std::string file;
  std::vector<std::vector<std::string>> layouts;  // settings of each
  std::string only{};                             // strategies whose labels begin so
};

std::vector<Experiment> read_layouts(const Job& job) {
  std::vector<Experiment> experiments;
  for (const std::vector<std::string>& settings : job.layouts) {
    Experiment& experiment = experiments.emplace_back(
        bench::read_job("examples/" + job.file + "/experiment.yaml", settings).experiment);
    std::erase_if(experiment.plans,
                  [&](const CompressionPlan& plan) { return !plan.label.starts_with(job.only); });
  }
  return experiments;
}

using Layouts = std::vector<std::unique_ptr<PreparedExperiment>>;

Layouts prepare(const std::vector<Experiment>& experiments) {
  Layouts layouts;
  for (const Experiment& experiment : experiments) {
    layouts.push_back(std::make_unique<PreparedExperiment>(experiment));
  }
  return layouts;
}

// Every strategy on every layout; the sum of the steps.
double predict_all(const Layouts& layouts) {
  double sum = 0.0;
  for (std::size_t plan = 0; plan < layouts.front()->experiment().plans.size(); ++plan) {
    for (const auto& layout : layouts) {
      sum += layout->predict(layout->experiment().plans[plan]).step.si;
    }
  }
  return sum;
}

// Strategies a second of two threads that sweep the same layouts, by the clock on the wall.
double sweep_rate(const Layouts& layouts, std::size_t strategies) {
  constexpr int threads = 2;
  constexpr Seconds length = 1_s;
  std::vector<std::size_t> done(threads, 0);
  std::vector<double> sums(threads, 0.0);
  const auto start = Clock::now();
  {
    std::vector<std::jthread> pool;
    for (std::size_t t = 0; t < threads; ++t) {
      pool.emplace_back([&, t] {
        for (; since(start) < length; done[t] += strategies) {
          sums[t] += predict_all(layouts);
        }
      });
    }
  }
  const Seconds wall = since(start);
  checksum += sums[0] + sums[1];
  return static_cast<double>(done[0] + done[1]) / (wall / 1_s);
}

void run(const Job& job, Seconds pinned) {
  const std::vector<Experiment> experiments = read_layouts(job);
  const Layouts layouts = prepare(experiments);
  const std::size_t strategies = experiments.size() * experiments.front().plans.size();
  const Seconds preparation =
      time_of([&] { checksum += static_cast<double>(prepare(experiments).size()); }) /
      static_cast<double>(experiments.size());
  const Seconds prediction =
      time_of([&] { checksum += predict_all(layouts); }) / static_cast<double>(strategies);
  fmt::print("| {:<44} | {:>3} | {:>4} | {:>7.2f} | {:>5.2f} | {:>8.2f} | {:>6.1f} | {:>8.0f} |\n",
             job.title, experiments.size(), strategies, prediction / 1_us, prediction / pinned,
             preparation / 1_us, preparation / pinned, sweep_rate(layouts, strategies));
}

}  // namespace

int main() {
  const Seconds pinned = time_of(pinned_arithmetic);
  fmt::print("pinned arithmetic: {:.2f} us\n\n", pinned / 1_us);
  fmt::print(
      "| job | layouts | strategies | us/strategy | x pinned | us/layout prepared | x pinned | "
      "strategies/s, 2 threads |\n|---|---:|---:|---:|---:|---:|---:|---:|\n");
  const std::string gpt3 = "05-gpt3-175b-a100";
  const std::string m96 = "layout.micro_batches=96";
  const std::vector<std::vector<std::string>> gpt3_layouts{
      {"cluster.nodes=128", "layout.dp=16", "layout.virtual_stages=2", m96},
      {"cluster.nodes=128", "layout.dp=16", "layout.virtual_stages=3", m96},
      {"cluster.nodes=128", "layout.dp=16", "layout.virtual_stages=6", m96},
      {"cluster.nodes=128", "layout.dp=16", "layout.virtual_stages=12", m96},
      {"cluster.nodes=64", "layout.dp=8", "layout.virtual_stages=2", "layout.micro_batches=192"}};
  run({"GPT-3 175B, tp 8 pp 8 interleaved, PowerSGD", gpt3, gpt3_layouts, "powersgd"}, pinned);
  run({"GPT-3 175B, tp 8 pp 8 interleaved, all methods", gpt3, gpt3_layouts, {}}, pinned);
  run({"ResNet-50, DDP, dp 4 to 96, all methods",
       "01-resnet50-v100",
       {{"cluster.nodes=1", "layout.dp=4"},
        {"cluster.nodes=2", "layout.dp=8"},
        {"cluster.nodes=8", "layout.dp=32"},
        {"cluster.nodes=16", "layout.dp=64"},
        {"cluster.nodes=24", "layout.dp=96"}},
       {}},
      pinned);
  fmt::print("\nchecksum {:.6g}\n", checksum);
}
