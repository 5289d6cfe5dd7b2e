// SPDX-License-Identifier: Apache-2.0

// How many points a sweep writes in a second: strategies of jobs, from the command to the file. The
// same jobs are first swept one by one (`--no-share`: each read, checked and prepared by itself),
// and both files are compared; then many of them, on one thread and on two. Other programs take
// from what the clock says of both, not from the processor time of a point.

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/program.hpp"

namespace {

using namespace payoff;
namespace fs = std::filesystem;

struct Case {
  std::string title;
  std::string job;
  std::vector<std::string> few;   // axes of the jobs that are compared
  std::vector<std::string> many;  // and of those that are timed
};

struct Run {
  double seconds{};    // by the clock
  double processor{};  // of all threads
  std::string text;
  double points{};
};

std::string contents(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

Run sweep(const Case& of, const std::vector<std::string>& axes,
          const std::vector<std::string>& options) {
  const fs::path file = fs::temp_directory_path() / "payoff-sweep-bench.jsonl";
  fs::remove(file);
  std::vector<std::string> words{"payoff", "sweep", fs::path(PAYOFF_SOURCE_DIR) / of.job, "-o",
                                 file.string()};
  for (const std::string& axis : axes) {
    words.insert(words.end(), {"--over", axis});
  }
  words.insert(words.end(), options.begin(), options.end());
  std::ostringstream out;
  std::ostringstream err;
  Console console{out, err};
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t used = std::clock();
  const ExitCode code = run_program(words, all_commands(), console);
  Run run;
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  run.processor = static_cast<double>(std::clock() - used) / CLOCKS_PER_SEC;
  if (code != ExitCode::success) {
    fmt::print(stderr, "{}", err.str());
    std::exit(EXIT_FAILURE);
  }
  run.text = contents(file);
  for (const char c : run.text) {
    run.points += c == '\n' ? 1.0 : 0.0;
  }
  run.points -= 1.0;  // the first line says what was asked
  fs::remove(file);
  return run;
}

void measure(const Case& of) {
  const Run alone = sweep(of, of.few, {"--no-share", "--threads", "1"});
  if (alone.text != sweep(of, of.few, {"--threads", "1"}).text) {
    fmt::print(stderr, "{}: other bytes than one by one\n", of.title);
    std::exit(EXIT_FAILURE);
  }
  const Run one = sweep(of, of.many, {"--threads", "1"});
  const Run two = sweep(of, of.many, {"--threads", "2"});
  const double alone_cost = alone.processor / alone.points * 1e6;
  const double cost = one.processor / one.points * 1e6;
  fmt::print("| {:<30} | {:>7.0f} | {:>7.0f} | {:>5.1f} | {:>5.0f} | {:>7.0f} | {:>7.0f} |\n",
             of.title, one.points, alone_cost, cost, alone_cost / cost, one.points / one.seconds,
             two.points / two.seconds);
}

}  // namespace

int main() {
  setenv("PAYOFF_PROFILES", PAYOFF_SOURCE_DIR "/profiles", 1);
  const std::string resnet = "examples/01-resnet50-v100/experiment.yaml";
  const std::string bert = "examples/03-bert-v100/experiment.yaml";
  const std::string gpt3 = "examples/05-gpt3-175b-a100/experiment.yaml";
  const std::vector<Case> cases{
      {"ResNet-50: bandwidth, bucket",
       resnet,
       {"bandwidth=10 Gb/s,20 Gb/s", "bucket=5 MiB,25 MiB"},
       {"bucket=5 MiB..45 MiB:x3", "bandwidth=1 Gb/s..3 Tb/s:x1.001"}},
      {"ResNet-50: nodes, bandwidth",
       resnet,
       {"nodes=2,4", "bandwidth=10 Gb/s,20 Gb/s"},
       {"nodes=2..1024:x2", "bandwidth=1 Gb/s..1 Tb/s:x1.002"}},
      {"ResNet-50: batch, bandwidth",
       resnet,
       {"micro-batch=32,64", "bandwidth=10 Gb/s,20 Gb/s"},
       {"micro-batch=8..128:x2", "bandwidth=1 Gb/s..1 Tb/s:x1.002"}},
      {"BERT: bandwidth, bucket",
       bert,
       {"bandwidth=10 Gb/s,20 Gb/s", "bucket=5 MiB,25 MiB"},
       {"bucket=5 MiB..45 MiB:x3", "bandwidth=1 Gb/s..1 Tb/s:x1.002"}},
      {"GPT-3, pp 8: bandwidth",
       gpt3,
       {"bandwidth=50 Gb/s,100 Gb/s,200 Gb/s"},
       {"bandwidth=1 Gb/s..1 Tb/s:x1.01"}},
      {"GPT-3, pp 8: bucket, nodes",
       gpt3,
       {"bucket=25 MiB,100 MiB", "nodes=16,32"},
       {"nodes=16..512:x2", "bucket=5 MiB..1 GiB:x1.1"}},
  };
  fmt::print(
      "| axes | points | one by one, us/point | shared, us/point | ratio | points/s, one thread | "
      "two |\n|---|---:|---:|---:|---:|---:|---:|\n");
  for (const Case& of : cases) {
    measure(of);
  }
  return EXIT_SUCCESS;
}
