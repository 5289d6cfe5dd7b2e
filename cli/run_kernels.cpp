// SPDX-License-Identifier: Apache-2.0
#include "cli/run_kernels.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace payoff {

void run_kernels(const KernelRun& run) {
  constexpr int no_gpu = 77;  // as test programs say that they cannot run here
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
  if (WEXITSTATUS(status) == no_gpu) {
    throw std::runtime_error(
        "there is no GPU to measure here: run payoff-kernels where there is one, and bring its "
        "samples file");
  }
  if (WEXITSTATUS(status) != 0) {
    throw std::runtime_error(
        fmt::format("{} failed with exit status {}", run.program, WEXITSTATUS(status)));
  }
}

}  // namespace payoff
