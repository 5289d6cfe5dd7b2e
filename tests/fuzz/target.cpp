// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/target.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "sim/topology.hpp"

namespace payoff::fuzz {
namespace {

// Removed when the program ends well; after a crash it stays, with the input that did it.
struct ScratchFolder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("payoff-fuzz-" + std::to_string(::getpid()));

  ScratchFolder() { std::filesystem::create_directories(path); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

}  // namespace

void broken(std::string_view law) {
  std::fprintf(stderr, "broken law: %.*s\n", static_cast<int>(law.size()), law.data());
  std::abort();
}

const Library& shipped() {
  static const Library library(PAYOFF_SOURCE_DIR "/profiles");
  return library;
}

std::string scratch_file(std::string_view name, std::string_view content) {
  static const ScratchFolder folder;
  const std::filesystem::path path = folder.path / name;
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  return path.string();
}

ReadContext Reading::context() {
  return {shipped(), sources_, diagnostics_, true, sim::find_in_links};
}

Span Reading::file(std::string_view input) {
  return {sources_.add_file("input", std::string(input)), 0, input.size()};
}

Span Reading::argument(std::string_view input) {
  return {sources_.add_argument(1, std::string(input)), 0, input.size()};
}

std::string Reading::verdict(bool has_value) const {
  if (has_value == diagnostics_.has_errors()) {
    broken(has_value ? "there is a value beside errors" : "there is neither a value nor an error");
  }
  return verdict();
}

std::string Reading::verdict() const {
  for (const Diagnostic& diagnostic : diagnostics_.sorted()) {
    if (diagnostic.message.empty()) {
      broken("a diagnostic says nothing");
    }
    if (diagnostic.span) {
      const Source& source = sources_[diagnostic.span->source];
      if (diagnostic.span->offset + diagnostic.span->length > source.text.size() + 1) {
        broken("a diagnostic is beyond the end of its source");
      }
    }
  }
  (void)render_json(diagnostics_, sources_);
  return render_text(diagnostics_, sources_);
}

}  // namespace payoff::fuzz
