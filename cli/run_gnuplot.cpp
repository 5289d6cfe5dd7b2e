// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include "cli/chart.hpp"

namespace payoff {
namespace {

// A script and a picture on the disk for as long as gnuplot works.
class WorkFolder {
 public:
  WorkFolder() : path_((std::filesystem::temp_directory_path() / "payoff-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) {
      throw std::runtime_error(
          fmt::format("cannot make a temporary folder: {}", std::strerror(errno)));
    }
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  ~WorkFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

void run_gnuplot(std::string script_file) {
  std::string program = "gnuplot";
  const std::array<char*, 3> words = {program.data(), script_file.data(), nullptr};
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

}  // namespace

std::string picture_bytes(const Chart& chart, Picture picture) {
  const WorkFolder folder;
  const std::string script = folder.file("chart.gp");
  const std::string output = folder.file("picture");
  std::ofstream(script, std::ios::binary) << gnuplot_script(chart, picture, output);
  run_gnuplot(script);
  std::ifstream file(output, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  if (!file) {
    throw std::runtime_error("gnuplot left no picture");
  }
  return bytes.str();
}

}  // namespace payoff
