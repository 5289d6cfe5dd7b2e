// SPDX-License-Identifier: Apache-2.0

// What it takes to simulate a training step of GPT-3 175B: on 1,024 GPUs folded, with one slow GPU,
// and rank by rank; on 1,048,576 GPUs folded; on 1,024 send by send. Each case runs in a process of
// its own, whose processor time and peak memory are its own. Files are read before the clock
// starts; what counts is everything after that: layers priced, the plan, the links and classes, the
// events.
//
//   step_bench [CASE...]      folded, straggler, unfolded, million, sends, sends_straggler,
//                             sends_unfolded; all of them unless told otherwise

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/job.hpp"
#include "model/experiment.hpp"
#include "sim/step.hpp"
#include "sim/topology_platform.hpp"

namespace {

using namespace payoff;

struct Case {
  std::string_view name;
  std::string_view title;
  const char* file;
  bool folds{true};
  bool steps{false};
};
constexpr Case cases[] = {
    {"folded", "1,024 GPUs, folded", "bench/gpt3-1024.yaml"},
    {"straggler", "1,024 GPUs, one straggler", "bench/gpt3-1024-straggler.yaml"},
    {"unfolded", "1,024 GPUs, straggler, unfolded", "bench/gpt3-1024-straggler.yaml", false},
    {"million", "1,048,576 GPUs, straggler", "examples/topologies/million-gpus.yaml"},
    {"sends", "send by send, folded", "bench/gpt3-1024.yaml", true, true},
    {"sends_straggler", "send by send, straggler", "bench/gpt3-1024-straggler.yaml", true, true},
    {"sends_unfolded", "send by send, unfolded", "bench/gpt3-1024.yaml", false, true},
};

Seconds processor_time() {
  return {static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC)};
}

void run(const Case& c) {
  const ReadExperiment read = bench::read_job(c.file);
  const Seconds begin = processor_time();
  const PreparedExperiment prepared(read.experiment);
  const StepPlan plan = prepared.plan(read.experiment.plans.front());
  const Seconds planned = processor_time();
  const sim::BuiltPlatform built = sim::build_platform(read.experiment.cluster, read.cluster_state,
                                                       plan, {c.folds, c.folds, c.steps});
  const Seconds built_at = processor_time();
  const sim::SimulatedStep step = sim::simulate(plan, built.platform);
  const Seconds end = processor_time();
  fmt::print("{:<32} {:>11} {:>8.3f} {:>9.3f} {:>11.3f} {:>9.3f} {:>10.2f}", c.title, step.events,
             (planned - begin).si, (built_at - planned).si, (end - built_at).si, (end - begin).si,
             step.prediction.step.si);
  std::fflush(stdout);
}

bool run_apart(const Case& c) {
  const pid_t child = fork();
  if (child == 0) {
    run(c);
    std::_Exit(0);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) {
    return false;
  }
  fmt::print(" {:>10.1f}\n", static_cast<double>(usage.ru_maxrss) / 1000);
  std::fflush(stdout);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> wanted(argv + 1, argv + argc);
  for (const std::string_view word : wanted) {
    if (std::none_of(std::begin(cases), std::end(cases),
                     [&](const Case& c) { return c.name == word; })) {
      fmt::print(stderr, "error: no case `{}`\n", word);
      return 2;
    }
  }
  fmt::print("{:<32} {:>11} {:>8} {:>9} {:>11} {:>9} {:>10} {:>10}\n", "GPT-3 175B", "events",
             "plan [s]", "links [s]", "events [s]", "all [s]", "step [s]", "peak [MB]");
  std::fflush(stdout);
  for (const Case& c : cases) {
    const bool is_wanted =
        wanted.empty() || std::find(wanted.begin(), wanted.end(), c.name) != wanted.end();
    if (is_wanted && !run_apart(c)) {
      fmt::print(stderr, "error: `{}` did not end\n", c.name);
      return 1;
    }
  }
  return 0;
}
