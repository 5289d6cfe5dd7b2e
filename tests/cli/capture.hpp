// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/exit_code.hpp"

// Runs a command line of the program in this process and keeps what it printed.

namespace payoff::test {

struct Captured {
  ExitCode code{};
  std::string out;
  std::string err;
};

// `words` without the program: {"collective", "all_reduce", ...}. The profiles are those of the
// source tree. What is the world's fault is thrown.
[[nodiscard]] Captured payoff(std::vector<std::string> words);
[[nodiscard]] Captured predict(std::vector<std::string> words);
// The result of a command as JSON. To be called in a test: it requires success.
[[nodiscard]] nlohmann::json json_of(std::vector<std::string> words);
// With this folder instead of the shipped profiles.
[[nodiscard]] Captured payoff_with(const std::string& profiles, std::vector<std::string> words);

// A small experiment as options: GPT-2 on 8 GPUs of two nodes at 10 Gb/s.
[[nodiscard]] std::vector<std::string> small_experiment(std::vector<std::string> more = {});
// `payoff simulate` of it.
[[nodiscard]] std::vector<std::string> simulate(std::vector<std::string> more = {});
// What `predict --json` says of it. To be called in a test: it requires success.
[[nodiscard]] nlohmann::json predicted(std::vector<std::string> more = {});

// What a sweep said beside which results are priced beyond what was measured (tests/cli/trust_test
// holds that line to predict).
[[nodiscard]] std::string besides_trust(const std::string& err);

// A file without plans: ResNet-50 on the same GPUs.
inline constexpr const char* small_job =
    "cluster: {profile: p3-8xlarge, nodes: 2}\n"
    "model: {profile: resnet-50}\n"
    "layout: {micro_batch: 64}\n"
    "training: {precision: fp32}\n";

// A folder of this test alone, removed at the end.
class ScratchFolder {
 public:
  ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  [[nodiscard]] std::string path(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] std::vector<std::string> files() const;  // names, sorted
  void write(const std::string& name, const std::string& content) const;

 private:
  std::string path_;
};

[[nodiscard]] std::vector<std::string> lines_of(const std::string& text);
[[nodiscard]] std::string read_text(const std::string& path);

}  // namespace payoff::test
