// SPDX-License-Identifier: Apache-2.0
#include "cli/import_files.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

namespace payoff {
namespace {

namespace fs = std::filesystem;

// A pipe can be opened once only.
bool can_be_read(const std::string& path) {
  std::error_code unknown;
  const fs::file_status status = fs::status(path, unknown);
  return fs::is_regular_file(status) ? std::ifstream(path).is_open()
                                     : fs::exists(status) && !fs::is_directory(status);
}

}  // namespace

void check_import_files(const Arguments& arguments, Session& session) {
  std::map<std::string, std::string> seen;
  for (std::size_t i = 1; i < arguments.positionals().size(); ++i) {
    const Argument& given = arguments.positionals()[i];
    if (!can_be_read(given.text)) {
      session.diagnostics().error(given.span, backquoted(given.text) + " cannot be read");
      continue;
    }
    std::error_code unknown;
    const fs::path real = fs::canonical(given.text, unknown);
    const auto [place, is_new] = seen.emplace(unknown ? given.text : real.string(), given.text);
    if (!is_new) {
      const std::string& before = place->second;
      session.diagnostics().error(
          given.span,
          fmt::format("{} is given twice{}", backquoted(given.text),
                      before == given.text ? "" : ": as " + backquoted(before) + ", too"));
    }
  }
}

// `-` alone is the standard input nowhere in this program.
void with_import_file(const std::string& path, Session& session,
                      const std::function<void(std::istream&)>& use) {
  session.reads(path);
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    throw std::runtime_error(fmt::format("{} cannot be read", path));
  }
  try {
    stream.exceptions(std::ios::badbit);
    use(stream);
  } catch (const std::ios_base::failure& failure) {  // the disk, not the text
    throw std::runtime_error(
        fmt::format("cannot read {}: {}", backquoted(path), failure.code().message()));
  }
}

}  // namespace payoff
