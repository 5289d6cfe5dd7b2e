// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <csignal>
#include <filesystem>

namespace payoff::kernels {

// A file that is only of use when it is whole: removed where a signal ends the program (SIGINT,
// SIGTERM, SIGHUP), and where it was not kept. One at a time. An empty path is no file.
class UnfinishedFile {
 public:
  explicit UnfinishedFile(const std::filesystem::path& path);
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;
  ~UnfinishedFile();

  void keep() { is_kept_ = true; }

 private:
  static constexpr std::array<int, 3> signals{SIGINT, SIGTERM, SIGHUP};

  std::filesystem::path path_;
  std::array<struct sigaction, signals.size()> before_{};
  bool is_kept_ = false;
};

}  // namespace payoff::kernels
