// SPDX-License-Identifier: Apache-2.0
#include "cli/file_text.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace payoff {

std::string beginning_of(const std::filesystem::path& file, std::size_t most) {
  std::ifstream stream(file, std::ios::binary);
  std::string text(most, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(most));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

std::string contents_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream || std::filesystem::is_directory(file)) {  // a folder opens, and has no bytes
    throw std::runtime_error(file.string() + ": cannot be read");
  }
  return text.str();
}

}  // namespace payoff
