// SPDX-License-Identifier: Apache-2.0

// How long a prediction takes: two jobs, several layouts of each (the layout is what a search
// varies), and the strategies compared on each. Preparation (layers and collectives priced, buckets
// cut) happens once a layout and is reported apart from the strategies that share it.
//
// Seconds depend on the machine, so every time is also given in units of a pinned piece of
// arithmetic that runs in the same process: one thousand dependent square roots.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "model/experiment.hpp"
#include "profiles/library.hpp"
#include "profiles/read_experiment.hpp"

namespace {

using namespace payoff;
namespace fs = std::filesystem;

// Keeps results alive; printed, so that nothing is optimised away.
double checksum = 0.0;

// Shortest of several batches: what the code costs, not what else the machine did.
Seconds time_of(int repetitions, const std::function<void()>& body) {
  using Clock = std::chrono::steady_clock;
  constexpr int batches = 7;
  double best = 1e300;
  for (int batch = 0; batch < batches; ++batch) {
    const auto start = Clock::now();
    for (int i = 0; i < repetitions; ++i) {
      body();
    }
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return {best / repetitions};
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
};

std::vector<Experiment> read_layouts(const Job& job, const Library& library) {
  std::vector<Experiment> experiments;
  for (const std::vector<std::string>& texts : job.layouts) {
    SourceMap sources;
    Diagnostics diagnostics;
    std::vector<Setting> settings;
    settings.reserve(texts.size());
    for (const std::string& text : texts) {
      settings.push_back({static_cast<int>(settings.size()) + 1, text});
    }
    const fs::path file = fs::path(PAYOFF_SOURCE_DIR) / "examples" / job.file / "experiment.yaml";
    auto read = read_experiment(file, settings, {library, sources, diagnostics});
    if (!read) {
      fmt::print(stderr, "{}", render_text(diagnostics, sources));
      std::exit(1);
    }
    experiments.push_back(std::move(read->experiment));
  }
  return experiments;
}

void run(const Job& job, const Library& library, Seconds pinned) {
  const std::vector<Experiment> experiments = read_layouts(job, library);
  std::vector<std::unique_ptr<PreparedExperiment>> prepared;
  std::size_t strategies = 0;
  const Seconds preparation = time_of(3, [&] {
    prepared.clear();
    for (const Experiment& experiment : experiments) {
      prepared.push_back(std::make_unique<PreparedExperiment>(experiment));
    }
  });
  for (const Experiment& experiment : experiments) {
    strategies += experiment.plans.size();
  }
  const Seconds prediction = time_of(20, [&] {
    for (const auto& layout : prepared) {
      for (const CompressionPlan& plan : layout->experiment().plans) {
        checksum += layout->predict(plan).step.si;
      }
    }
  });
  const Seconds each_layout = preparation / static_cast<double>(experiments.size());
  const Seconds each_strategy = prediction / static_cast<double>(strategies);
  fmt::print("| {:<38} | {:>3} | {:>4} | {:>9.2f} | {:>8.2f} | {:>10.2f} | {:>8.0f} |\n", job.title,
             experiments.size(), strategies, each_strategy / 1_us, each_strategy / pinned,
             each_layout / 1_us,
             1_s / ((prediction + preparation) / static_cast<double>(strategies)));
}

}  // namespace

int main() {
  const Library library(fs::path(PAYOFF_SOURCE_DIR) / "profiles");
  const Seconds pinned = time_of(200, pinned_arithmetic);
  fmt::print("pinned arithmetic: {:.2f} us\n\n", pinned / 1_us);
  fmt::print(
      "| job                                    | layouts | strategies | us/strategy | /pinned | "
      "us/preparation | predictions/s, one core, preparation included |\n");
  fmt::print("|---|---:|---:|---:|---:|---:|---:|\n");
  run({"GPT-3 175B, tp 8 pp 8 dp 16, interleaved",
       "05-gpt3-175b-a100",
       {{"cluster.nodes=128", "layout.dp=16", "layout.virtual_stages=2", "layout.micro_batches=96"},
        {"cluster.nodes=128", "layout.dp=16", "layout.virtual_stages=3", "layout.micro_batches=96"},
        {"cluster.nodes=128", "layout.dp=16", "layout.virtual_stages=6", "layout.micro_batches=96"},
        {"cluster.nodes=128", "layout.dp=16", "layout.virtual_stages=12",
         "layout.micro_batches=96"},
        {"cluster.nodes=64", "layout.dp=8", "layout.virtual_stages=2",
         "layout.micro_batches=192"}}},
      library, pinned);
  run({"ResNet-50, DDP, dp 4 to 96",
       "01-resnet50-v100",
       {{"cluster.nodes=1", "layout.dp=4"},
        {"cluster.nodes=2", "layout.dp=8"},
        {"cluster.nodes=8", "layout.dp=32"},
        {"cluster.nodes=16", "layout.dp=64"},
        {"cluster.nodes=24", "layout.dp=96"}}},
      library, pinned);
  fmt::print("\nchecksum {:.6g}\n", checksum);
}
