// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/diagnostics.hpp"
#include "profiles/document.hpp"
#include "profiles/fact.hpp"

// The folder of profiles that the program ships, and what it holds. A profile is one file,
// KIND/NAME.yaml (models that are Hugging Face configurations: KIND/NAME.json), and its first key
// says NAME again; fitted laws are in fitted/*.yaml and are joined to the hardware when it is read
// (profiles/read_hardware.hpp). Wherever a name is asked for, the path of a file of the user's own
// may stand instead. profiles/README.md has the keys of every kind.

namespace payoff {

enum class ProfileKind { gpu, fabric, network, cluster, model, software, compression };

[[nodiscard]] std::string_view folder_of(ProfileKind kind);

// A value with where its numbers come from.
template <class T>
struct Profile {
  T value{};
  std::string description;
  Facts facts;
};

// Whether this is a path, not the name of a profile: it ends in .yaml or .json.
[[nodiscard]] bool is_own_file(std::string_view name);

// A path as written at `asked`: relative to the file that it is written in; on the command line, to
// the working folder.
[[nodiscard]] std::filesystem::path own_file(std::string_view name, std::optional<Span> asked,
                                             const SourceMap& sources);

class Library {
 public:
  explicit Library(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // $PAYOFF_PROFILES; else the installed or the source folder that belongs to `program`, the path
  // of the running executable. Throws std::runtime_error naming the places when there is none.
  [[nodiscard]] static Library find(const std::filesystem::path& program);

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] std::vector<std::string> names(ProfileKind kind) const;  // sorted
  [[nodiscard]] bool has(ProfileKind kind, std::string_view name) const;
  [[nodiscard]] std::filesystem::path path(ProfileKind kind, std::string_view name) const;
  [[nodiscard]] std::filesystem::path fitted(std::string_view name) const;  // fitted/NAME.yaml

  // Loads KIND/NAME.yaml, or a user's own file, whose numbers then need no source. An unknown name
  // and a file that cannot be read are reported at `asked`.
  [[nodiscard]] std::optional<Document> load(ProfileKind kind, std::string_view name,
                                             std::optional<Span> asked, SourceMap& sources,
                                             Diagnostics& diagnostics) const;

  // Reports that there is no such profile, with a suggestion.
  void report_unknown(ProfileKind kind, std::string_view name, std::optional<Span> asked,
                      Diagnostics& diagnostics) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace payoff
