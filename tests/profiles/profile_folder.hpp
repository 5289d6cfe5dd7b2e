// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "profiles/library.hpp"
#include "profiles/read_hardware.hpp"

// Profiles to read in tests: the shipped ones, and folders of a test's own.

namespace payoff::test {

[[nodiscard]] const Library& shipped();

// A copy of the shipped profiles in which a test may write and break files; removed at the end.
class ProfileFolder {
 public:
  ProfileFolder();
  ProfileFolder(const ProfileFolder&) = delete;
  ProfileFolder& operator=(const ProfileFolder&) = delete;
  ~ProfileFolder();

  void write(const std::string& file, const std::string& text) const;
  [[nodiscard]] std::string read(const std::string& file) const;
  // Replaces the one place where `before` stands.
  void replace(const std::string& file, const std::string& before, const std::string& after) const;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const Library& library() const { return library_; }

 private:
  std::filesystem::path path_;
  Library library_;
};

// What one reading needs and leaves behind.
struct ProfileReading {
  explicit ProfileReading(const Library& from) : library(from) {}

  [[nodiscard]] ReadContext context() { return {library, sources, diagnostics}; }

  // One line a diagnostic: "file:line:column message | label | help", the file without its folder;
  // "argument 1:1:8 ..." for arguments.
  [[nodiscard]] std::string errors() const;

  const Library& library;
  SourceMap sources;
  Diagnostics diagnostics;
};

}  // namespace payoff::test
