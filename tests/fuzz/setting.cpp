// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "profiles/override.hpp"
#include "profiles/read_experiment.hpp"
#include "tests/fuzz/target.hpp"

namespace payoff::fuzz {
namespace {

constexpr const char* job =
    "cluster: {profile: p3-8xlarge, nodes: 2}\n"
    "model: {profile: gpt2}\n"
    "layout: {micro_batch: 4}\n"
    "training: {precision: fp16}\n"
    "compress: [\"powersgd:rank=4\", {topk: {ratio: 0.01}}]\n";

}  // namespace

// One setting a line, as one command line has them.
std::string read_setting(std::string_view input) {
  Reading reading;
  auto document = load_yaml_text("job.yaml", job, reading.sources(), reading.diagnostics());
  std::vector<Setting> settings;
  for (std::size_t start = 0; start <= input.size() && settings.size() < 16;) {
    const std::size_t end = std::min(input.find('\n', start), input.size());
    settings.push_back(
        {static_cast<int>(settings.size()) + 1, std::string(input.substr(start, end - start))});
    start = end + 1;
  }
  const auto read = read_experiment(std::move(*document), settings, reading.context());
  return reading.verdict(read.has_value());
}

}  // namespace payoff::fuzz
