// SPDX-License-Identifier: Apache-2.0
#include "tests/profiles/profile_folder.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include <unistd.h>

#include "tests/catch.hpp"

namespace payoff::test {
namespace {

namespace fs = std::filesystem;

const fs::path shipped_folder{PAYOFF_SOURCE_DIR "/profiles"};

fs::path new_folder() {
  static int count = 0;
  return fs::temp_directory_path() /
         ("payoff_profiles_" + std::to_string(::getpid()) + "_" + std::to_string(count++));
}

// Stands for the fit of compute laws until it is shipped.
void add_compute_laws(const fs::path& folder) {
  if (fs::exists(folder / "fitted" / "compute.yaml")) {
    return;
  }
  std::ofstream file(folder / "fitted" / "compute.yaml");
  file << "citations: {made_up: {kind: assumed, text: of this test}}\ngpu:\n";
  for (const std::string& name : Library(folder).names(ProfileKind::gpu)) {
    file << "  " << name << ":\n    from: made_up\n"
         << "    gemm_efficiency: {fp32: 0.8, tf32: 0.8, fp16: 0.8, bf16: 0.8, fp8: 0.8}\n"
         << "    convolution_efficiency: 0.8\n    attention_efficiency: 0.8\n    depth_half: 64\n"
         << "    memory_efficiency: 0.8\n    launch: 5 us\n    relative_sd: 10 %\n";
  }
}

}  // namespace

const Library& shipped() {
  static const ProfileFolder folder;
  return folder.library();
}

ProfileFolder::ProfileFolder() : path_(new_folder()), library_(path_) {
  for (const char* part :
       {"gpu", "fabric", "network", "cluster", "model", "compression", "software", "fitted"}) {
    fs::create_directories(path_ / part);
    if (fs::exists(shipped_folder / part)) {
      fs::copy(shipped_folder / part, path_ / part);
    }
  }
  add_compute_laws(path_);
}

ProfileFolder::~ProfileFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void ProfileFolder::write(const std::string& file, const std::string& text) const {
  std::ofstream stream(path_ / file, std::ios::binary);
  stream << text;
  REQUIRE(stream);
}

std::string ProfileFolder::read(const std::string& file) const {
  return read_text_file((path_ / file).string());
}

void ProfileFolder::replace(const std::string& file, const std::string& before,
                            const std::string& after) const {
  std::string text = read(file);
  const std::size_t at = text.find(before);
  INFO(file << ": " << before);
  REQUIRE(at != std::string::npos);
  REQUIRE(text.find(before, at + 1) == std::string::npos);
  write(file, text.replace(at, before.size(), after));
}

std::string ProfileReading::errors() const {
  std::string result;
  for (const Diagnostic& diagnostic : diagnostics.sorted()) {
    if (diagnostic.span) {
      const Location location = sources.locate(*diagnostic.span);
      result += fs::path(location.name).filename().string() + ":" + std::to_string(location.line) +
                ":" + std::to_string(location.column) + " ";
    }
    result += diagnostic.message;
    for (const std::string& text : {diagnostic.label, diagnostic.help}) {
      result += text.empty() ? "" : " | " + text;
    }
    result += "\n";
  }
  return result;
}

}  // namespace payoff::test
