// SPDX-License-Identifier: Apache-2.0
#include "cli/file_text.hpp"

#include <fstream>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

namespace payoff {

std::string beginning_of(const std::filesystem::path& file, std::size_t most) {
  std::ifstream stream(file, std::ios::binary);
  std::string text(most, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(most));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

std::string contents_of(const std::filesystem::path& file, std::size_t largest) {
  std::string text = read_text_file(file.string(), largest);
  if (text.size() > largest) {
    throw std::runtime_error(
        fmt::format("{} is larger than {} MiB", backquoted(file.string()), largest >> 20U));
  }
  return text;
}

std::string results_in(const std::filesystem::path& file) {
  constexpr std::size_t most = std::size_t{64} << 30U;  // more than machines have memory for
  std::error_code unknown;
  return std::filesystem::is_regular_file(file, unknown) ? contents_of(file, most)
                                                         : contents_of(file);
}

}  // namespace payoff
