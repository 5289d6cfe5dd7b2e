// SPDX-License-Identifier: Apache-2.0
#include "kernels/program/unfinished_file.hpp"

#include <climits>
#include <cstddef>
#include <cstring>
#include <string>
#include <system_error>

#include <unistd.h>

namespace payoff::kernels {
namespace {

char removed_path[PATH_MAX] = {};  // what a handler may read: nothing of it is allocated

// The handler was of one time, so that the signal, sent again, ends the program as it would have.
extern "C" void remove_and_end(int signal) {
  unlink(removed_path);
  raise(signal);
}

}  // namespace

UnfinishedFile::UnfinishedFile(const std::filesystem::path& path) : path_(path) {
  const std::string text = path.string();
  if (text.empty() || text.size() >= sizeof removed_path) {
    return;
  }
  std::memcpy(removed_path, text.c_str(), text.size() + 1);
  struct sigaction action {};
  action.sa_handler = remove_and_end;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (std::size_t i = 0; i < signals.size(); ++i) {
    sigaction(signals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) {  // as under nohup
      sigaction(signals[i], &action, nullptr);
    }
  }
}

UnfinishedFile::~UnfinishedFile() {
  if (path_.empty()) {
    return;
  }
  for (std::size_t i = 0; i < signals.size(); ++i) {
    sigaction(signals[i], &before_[i], nullptr);
  }
  if (!is_kept_) {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
}

}  // namespace payoff::kernels
