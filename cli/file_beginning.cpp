// SPDX-License-Identifier: Apache-2.0
#include "cli/file_beginning.hpp"

#include <fstream>

namespace payoff {

std::string beginning_of(const std::filesystem::path& file, std::size_t most) {
  std::ifstream stream(file, std::ios::binary);
  std::string text(most, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(most));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

}  // namespace payoff
