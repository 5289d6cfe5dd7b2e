// SPDX-License-Identifier: Apache-2.0

// How many candidates a search decides in a second: layouts with compression plans of the examples'
// jobs, one thread and two. A candidate is decided when it is refused, does not fit, is ruled out
// by its bound, or is priced; the time is that of the whole search, files read before. Most
// candidates are refused (degrees that do not divide), which costs least: the last column leaves
// them out.

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/job.hpp"
#include "study/layout_search.hpp"

namespace {

using namespace payoff;

struct Job {
  std::string title;
  std::string file;
  std::vector<std::string> settings;
};

void measure(const Job& job, const Experiment& experiment, unsigned threads) {
  SearchOptions options;
  options.threads = threads;
  const auto start = std::chrono::steady_clock::now();
  const SearchResult result = search_layouts(experiment, options);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const SearchCounts& counts = result.counts;
  fmt::print("{:<34} {:>2} {:>10} {:>10} {:>10} {:>10} {:>7} {:>8.3f} {:>12.0f} {:>12.0f}\n",
             job.title, threads, counts.considered, counts.invalid, counts.no_memory, counts.pruned,
             counts.priced, seconds, static_cast<double>(counts.considered) / seconds,
             static_cast<double>(counts.considered - counts.invalid) / seconds);
}

}  // namespace

int main() {
  const std::vector<Job> jobs{
      {"ResNet-50, 32 V100", "examples/01-resnet50-v100/experiment.yaml", {}},
      {"Llama-2 7B, H100", "examples/06-llama2-7b-h100/experiment.yaml", {}},
      {"GPT-3 175B, 128 A100", "examples/05-gpt3-175b-a100/experiment.yaml", {}},
      {"GPT-3 175B, 1,024 A100",
       "bench/gpt3-1024.yaml",
       {"compress=[powersgd:rank=4,qsgd:bits=8,topk:ratio=0.01,bf16]", "training.gradient=fp32"}},
      {"Mixtral 8x7B, 128 H100", "examples/08-mixtral-8x7b-h100/experiment.yaml", {}}};
  fmt::print("{:<34} {:>2} {:>10} {:>10} {:>10} {:>10} {:>7} {:>8} {:>12} {:>12}\n", "job", "th",
             "considered", "refused", "no memory", "by bound", "priced", "s", "all/s",
             "not refused/s");
  for (const Job& job : jobs) {
    const Experiment experiment = bench::read_job(job.file, job.settings).experiment;
    measure(job, experiment, 1);
    measure(job, experiment, 2);
  }
  return EXIT_SUCCESS;
}
