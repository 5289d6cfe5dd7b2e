// SPDX-License-Identifier: Apache-2.0
#include "cli/output_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/output_place.hpp"
#include "cli/trace_file.hpp"

namespace payoff {
namespace {

void write(const std::filesystem::path& path, const std::string& content,
           const std::filesystem::path& named) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) {
    throw std::runtime_error(fmt::format("cannot write {}: {}", named.string(),
                                         errno != 0 ? std::strerror(errno) : "unknown reason"));
  }
}

}  // namespace

OutputFiles::~OutputFiles() {
  for (const File& file : files_) {
    if (!file.temporary.empty()) {
      std::error_code ignored;
      std::filesystem::remove(file.temporary, ignored);
    }
  }
}

void OutputFiles::add(std::filesystem::path path, std::string content) {
  files_.push_back({std::move(path), std::move(content)});
}

void OutputFiles::commit() {
  std::optional<HeldSignals> held;  // that none leaves a temporary file; a pipe may be waited for
  if (std::none_of(files_.begin(), files_.end(),
                   [](const File& file) { return is_special(file.path); })) {
    held.emplace();
  }
  for (File& file : files_) {
    if (is_special(file.path)) {
      continue;
    }
    file.target = target_of(file.path);
    file.temporary = file.target;
    file.temporary += fmt::format(".part-{}", ::getpid());
    write(file.temporary, file.content, file.path);
  }
  for (File& file : files_) {
    if (file.temporary.empty()) {
      write(file.path, file.content, file.path);
      continue;
    }
    std::error_code failed;
    std::filesystem::rename(file.temporary, file.target, failed);
    if (failed) {
      throw std::runtime_error(
          fmt::format("cannot write {}: {}", file.path.string(), failed.message()));
    }
    file.temporary.clear();
  }
}

}  // namespace payoff
