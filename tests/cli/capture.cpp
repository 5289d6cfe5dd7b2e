// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/capture.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/program.hpp"
#include "tests/catch.hpp"

namespace payoff::test {

Captured payoff(std::vector<std::string> words) {
  return payoff_with(PAYOFF_SOURCE_DIR "/profiles", std::move(words));
}

Captured payoff_with(const std::string& profiles, std::vector<std::string> words) {
  words.insert(words.begin(), "payoff");
  setenv("PAYOFF_PROFILES", profiles.c_str(), 1);
  std::ostringstream out;
  std::ostringstream err;
  Console console{out, err};
  const ExitCode code = run_program(words, all_commands(), console);
  return {code, out.str(), err.str()};
}

nlohmann::json json_of(std::vector<std::string> words) {
  words.emplace_back("--json");
  const Captured run = payoff(std::move(words));
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  return nlohmann::json::parse(run.out);
}

Captured predict(std::vector<std::string> words) {
  words.insert(words.begin(), "predict");
  return payoff(std::move(words));
}

std::vector<std::string> small_experiment(std::vector<std::string> more) {
  std::vector<std::string> words{"--model",       "gpt2",
                                 "--cluster",     "p3-8xlarge",
                                 "--nodes",       "2",
                                 "--dp",          "8",
                                 "--micro-batch", "4",
                                 "--precision",   "fp16",
                                 "--sequence",    "1024",
                                 "--compress",    "powersgd:rank=4",
                                 "--compress",    "topk:ratio=0.01"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::vector<std::string> simulate(std::vector<std::string> more) {
  std::vector<std::string> words = small_experiment(std::move(more));
  words.insert(words.begin(), "simulate");
  return words;
}

nlohmann::json predicted(std::vector<std::string> more) {
  std::vector<std::string> words = small_experiment(std::move(more));
  words.insert(words.begin(), "predict");
  return json_of(std::move(words));
}

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "payoff-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("cannot make a folder like " + name);
  }
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> ScratchFolder::files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void ScratchFolder::write(const std::string& name, const std::string& content) const {
  std::ofstream(path(name), std::ios::binary) << content;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

std::string besides_trust(const std::string& err) {
  std::string others;
  for (const std::string& line : lines_of(err)) {
    if (line.find(" beyond what was measured: ") == std::string::npos) {
      others += line + "\n";
    }
  }
  return others;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace payoff::test
