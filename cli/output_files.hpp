// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

// What a command writes, all or nothing: every text goes to a temporary name beside its target,
// and only when all of them are on the disk are they renamed. A symbolic link stays, and the file
// that it leads to is written; what is not a regular file (a pipe, /dev/null) is, in place.

namespace payoff {

class OutputFiles {
 public:
  OutputFiles() = default;
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;
  ~OutputFiles();  // removes what was not committed

  void add(std::filesystem::path path, std::string content);

  // Throws std::runtime_error, naming the file, when one cannot be written.
  void commit();

 private:
  struct File {
    std::filesystem::path path;
    std::string content;
    std::filesystem::path target{};     // the file that a link leads to
    std::filesystem::path temporary{};  // empty: nothing there yet, or already renamed
  };
  std::vector<File> files_;
};

}  // namespace payoff
