// SPDX-License-Identifier: Apache-2.0
#include "cli/run_kernels.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <stdexcept>

#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/output_place.hpp"

namespace payoff {
namespace {

// Which file a path names and when it was written: payoff-kernels writes under another name and
// renames, so a file that differs is a whole one.
struct FileState {
  ino_t node{};
  timespec written{};

  explicit FileState(const std::string& path) {
    struct stat found {};
    if (!path.empty() && stat(path.c_str(), &found) == 0) {
      node = found.st_ino;
      written = found.st_mtim;
    }
  }
  [[nodiscard]] bool exists() const { return node != 0; }
  [[nodiscard]] bool operator==(const FileState& other) const {
    return node == other.node && written.tv_sec == other.written.tv_sec &&
           written.tv_nsec == other.written.tv_nsec;
  }
};

std::string samples_path(const std::vector<std::string>& words) {
  const auto out = std::find(words.begin(), words.end(), "--out");
  return out == words.end() || out + 1 == words.end() ? "" : *(out + 1);
}

// The exit status of the program, once it has ended by itself.
int status_of(const KernelRun& run) {
  std::vector<std::string> words{run.program};
  words.insert(words.end(), run.words.begin(), run.words.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, run.program.c_str(), nullptr, nullptr, pointers.data(), environ);
  if (error == ENOENT) {
    throw std::runtime_error(run.program +
                             " is not there: `make kernels` builds it where nvcc is installed, "
                             "`--program FILE` says where it is");
  }
  if (error != 0) {
    throw std::runtime_error(fmt::format("cannot run {}: {}", run.program, std::strerror(error)));
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
    throw std::runtime_error(run.program + " was stopped");
  }
  return WEXITSTATUS(status);
}

}  // namespace

void run_kernels(const KernelRun& run) {
  constexpr int no_gpu = 77;  // as test programs say that they cannot run here
  constexpr int some_failed = 1;
  constexpr int wrong_arguments = 2;
  const std::string path = samples_path(run.words);
  const FileState before(path);
  const int status = status_of(run);
  if (status == no_gpu) {
    throw std::runtime_error(
        "there is no GPU to measure here: run payoff-kernels where there is one, and bring its "
        "samples file");
  }
  if (status == wrong_arguments) {
    throw RefusedArguments(fmt::format("{} failed with exit status 2", run.program));
  }
  const FileState after(path);
  if (status == some_failed && after.exists() && !(after == before)) {
    std::cerr << "warning: some points failed, as told above; " << path << " has the others\n";
    return;
  }
  if (status != 0) {
    throw std::runtime_error(fmt::format("{} failed with exit status {}", run.program, status));
  }
  // A pipe is written in place.
  if (!path.empty() && after == before && !is_special(path)) {
    throw std::runtime_error(
        fmt::format("{} ended well, but wrote no {}: it is not payoff-kernels", run.program, path));
  }
}

}  // namespace payoff
