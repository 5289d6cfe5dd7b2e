// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/chart.hpp"

namespace payoff {
namespace {

// A script on the disk for as long as gnuplot reads it.
class ScriptFile {
 public:
  explicit ScriptFile(const std::string& script)
      : path_((std::filesystem::temp_directory_path() / "payoff-XXXXXX").string()) {
    const int file = mkstemp(path_.data());
    if (file < 0) {
      throw std::runtime_error(
          fmt::format("cannot make a temporary file: {}", std::strerror(errno)));
    }
    const ssize_t written = ::write(file, script.data(), script.size());
    if (::close(file) != 0 || written != static_cast<ssize_t>(script.size())) {
      throw std::runtime_error("cannot write a temporary file for gnuplot");
    }
  }
  ScriptFile(const ScriptFile&) = delete;
  ScriptFile& operator=(const ScriptFile&) = delete;
  ~ScriptFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

void run_gnuplot(const std::string& script) {
  const ScriptFile file(script);
  std::string program = "gnuplot";
  std::string path = file.path();
  const std::array<char*, 3> words = {program.data(), path.data(), nullptr};
  pid_t child = 0;
  const int error = posix_spawnp(&child, program.c_str(), nullptr, nullptr, words.data(), environ);
  if (error == ENOENT) {
    throw std::runtime_error(
        "gnuplot is not installed: install gnuplot-nox, or write a script with -o FILE.gp");
  }
  if (error != 0) {
    throw std::runtime_error(fmt::format("cannot run gnuplot: {}", std::strerror(error)));
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error("gnuplot failed; `-o FILE.gp` writes the script that it was given");
  }
}

}  // namespace payoff
