// SPDX-License-Identifier: Apache-2.0
#include "cli/output_place.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace payoff {

namespace fs = std::filesystem;

bool is_special(const fs::path& path) {
  std::error_code unknown;
  const fs::file_status status = fs::status(path, unknown);
  return fs::exists(status) && !fs::is_regular_file(status);
}

bool is_standard_stream(const fs::path& path) {
  struct stat named {};
  if (::stat(path.c_str(), &named) != 0) {
    return false;
  }
  const auto goes_there = [&](int descriptor) {
    struct stat stream {};
    return ::fstat(descriptor, &stream) == 0 &&
           (S_ISREG(stream.st_mode) || S_ISFIFO(stream.st_mode)) && named.st_dev == stream.st_dev &&
           named.st_ino == stream.st_ino;
  };
  return goes_there(STDOUT_FILENO) || goes_there(STDERR_FILENO);
}

fs::path target_of(const fs::path& path) {
  constexpr int most_links = 40;  // as Linux follows
  fs::path target = path;
  std::error_code unknown;
  for (int links = 0; fs::is_symlink(fs::symlink_status(target, unknown)); ++links) {
    if (links == most_links) {
      throw std::runtime_error(
          fmt::format("cannot write {}: {}", path.string(), std::strerror(ELOOP)));
    }
    target = target.parent_path() / fs::read_symlink(target);  // an absolute one stands alone
  }
  return target;
}

}  // namespace payoff
