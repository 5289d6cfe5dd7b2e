// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <sys/resource.h>

#include "tests/fuzz/large.hpp"
#include "tests/fuzz/target.hpp"

// Drives a target over files, without libFuzzer: what the tests run, with every compiler and
// sanitizer.
//
//   payoff_fuzz_replay                       lists the targets
//   payoff_fuzz_replay TARGET FILE|FOLDER... each file once, and the same once more: what is read
//                                            twice has to be told in the same words
//   payoff_fuzz_replay TARGET --large        inputs of 1 MiB that are made here (large.hpp)
//
// A file that takes longer than 10 s, or more than 2 GB, breaks a law too.

namespace {

namespace fs = std::filesystem;

#ifndef PAYOFF_FUZZ_SECONDS  // sanitizers make everything many times as long
#define PAYOFF_FUZZ_SECONDS 10
#endif
constexpr double most_seconds = PAYOFF_FUZZ_SECONDS;
constexpr long most_kilobytes = 2'000'000;

std::vector<fs::path> files_of(const std::vector<std::string>& words) {
  std::vector<fs::path> files;
  for (const std::string& word : words) {
    if (!fs::is_directory(word)) {
      files.emplace_back(word);
      continue;
    }
    for (const auto& entry : fs::directory_iterator(word)) {
      if (entry.is_regular_file()) {
        files.push_back(entry.path());
      }
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) {
    payoff::fuzz::broken("cannot read " + file.string());
  }
  return text.str();
}

// The machine may be busy with other work.
double processor_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

void replay(const payoff::fuzz::Target& target, const std::string& name, const std::string& input) {
  std::fprintf(stderr, "%s\r", name.c_str());  // what a crash is about
  const double start = processor_seconds();
  const std::string first = target.read(input);
  const double seconds = processor_seconds() - start;
  if (seconds > 1.0) {
    std::printf("%s: %.1f s\n", name.c_str(), seconds);
  }
  if (seconds > most_seconds) {
    payoff::fuzz::broken("an input is read or refused within seconds");
  }
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  if (used.ru_maxrss > most_kilobytes) {
    payoff::fuzz::broken("an input is read or refused within 2 GB");
  }
  if (input.size() < 65536 && target.read(input) != first) {
    payoff::fuzz::broken("the same input is told in the same words");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) {
    for (const payoff::fuzz::Target& target : payoff::fuzz::all_targets()) {
      std::printf("%-12s %s\n", std::string(target.name).c_str(), std::string(target.what).c_str());
    }
    return 0;
  }
  const payoff::fuzz::Target* target = payoff::fuzz::find_target(words[0]);
  if (target == nullptr) {
    std::fprintf(stderr, "no target `%s`\n", words[0].c_str());
    return 2;
  }
  std::size_t inputs = 0;
  if (words.size() == 2 && words[1] == "--large") {
    for (const auto& [name, text] : payoff::fuzz::large_inputs()) {
      replay(*target, name, text);
      ++inputs;
    }
  } else {
    for (const fs::path& file : files_of({words.begin() + 1, words.end()})) {
      replay(*target, file.filename().string(), bytes_of(file));
      ++inputs;
    }
  }
  std::printf("%s: %zu inputs\n", words[0].c_str(), inputs);
  return inputs == 0 ? 1 : 0;  // an empty corpus is a mistake of its path
}
