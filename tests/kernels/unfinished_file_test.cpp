// SPDX-License-Identifier: Apache-2.0
#include "kernels/program/unfinished_file.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include "tests/catch.hpp"

using payoff::kernels::UnfinishedFile;

namespace {

std::filesystem::path begun() {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("payoff-begun-" + std::to_string(getpid()));
  std::ofstream(path) << "";
  return path;
}

}  // namespace

TEST_CASE("a signal that ends the program removes the file that was begun") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const std::filesystem::path path = begun();
    const pid_t child = fork();
    if (child == 0) {
      std::signal(signal, SIG_DFL);
      const UnfinishedFile file(path);
      raise(signal);
      _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == signal);
    CHECK(!std::filesystem::exists(path));
    std::filesystem::remove(path);
  }
}

TEST_CASE("a file that was begun is removed unless it is kept, and signals are as before") {
  const std::filesystem::path path = begun();
  {
    UnfinishedFile file(path);
    file.keep();
  }
  CHECK(std::filesystem::exists(path));
  { const UnfinishedFile file(path); }
  CHECK(!std::filesystem::exists(path));
  struct sigaction now {};
  sigaction(SIGTERM, nullptr, &now);
  const UnfinishedFile none({});
  struct sigaction after {};
  sigaction(SIGTERM, nullptr, &after);
  CHECK(now.sa_handler == after.sa_handler);
}
