// SPDX-License-Identifier: Apache-2.0
#include "profiles/library.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <system_error>

#include "profiles/suggest.hpp"

namespace payoff {
namespace {

namespace fs = std::filesystem;

bool holds_profiles(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_directory(folder / "gpu", ignored) && fs::is_directory(folder / "cluster", ignored);
}

// Where models come from is told beside them, in a file that is no model.
constexpr std::string_view no_profile = "sources";

bool is_profile(const fs::path& file) {
  return is_own_file(file.filename().string()) && file.stem() != no_profile;
}

}  // namespace

bool is_own_file(std::string_view name) {
  return name.ends_with(".yaml") || name.ends_with(".json");
}

fs::path own_file(std::string_view name, std::optional<Span> asked, const SourceMap& sources) {
  const bool in_file = asked && !sources.is_argument(*asked);
  return in_file ? fs::path(sources[asked->source].name).parent_path() / name : fs::path(name);
}

std::string_view folder_of(ProfileKind kind) {
  switch (kind) {
    case ProfileKind::gpu:
      return "gpu";
    case ProfileKind::fabric:
      return "fabric";
    case ProfileKind::network:
      return "network";
    case ProfileKind::cluster:
      return "cluster";
    case ProfileKind::model:
      return "model";
    case ProfileKind::software:
      return "software";
    case ProfileKind::compression:
      return "compression";
  }
  return {};
}

Library Library::find(const fs::path& program) {
  if (const char* set = std::getenv("PAYOFF_PROFILES"); set != nullptr && *set != '\0') {
    if (!holds_profiles(set)) {
      throw std::runtime_error(std::string("PAYOFF_PROFILES names a folder without profiles: ") +
                               set);
    }
    return Library(set);
  }
  const fs::path beside = program.parent_path();
  const fs::path places[] = {beside / ".." / "profiles",
                             beside / ".." / "share" / "payoff" / "profiles",
                             beside / ".." / ".." / "profiles"};
  for (const fs::path& place : places) {
    if (holds_profiles(place)) {
      return Library(place.lexically_normal());
    }
  }
  std::string message = "no profiles found; looked in";
  for (const fs::path& place : places) {
    message += " " + place.lexically_normal().string();
  }
  throw std::runtime_error(message + "; set PAYOFF_PROFILES to their folder");
}

std::vector<std::string> Library::names(ProfileKind kind) const {
  std::set<std::string> names;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(folder_ / folder_of(kind), missing)) {
    if (is_profile(entry.path()) && entry.is_regular_file(missing)) {
      names.insert(entry.path().stem().string());
    }
  }
  return {names.begin(), names.end()};
}

bool Library::has(ProfileKind kind, std::string_view name) const {
  std::error_code missing;
  return name.find('/') == std::string_view::npos && name != no_profile &&
         fs::is_regular_file(path(kind, name), missing);
}

fs::path Library::path(ProfileKind kind, std::string_view name) const {
  const fs::path folder = folder_ / folder_of(kind);
  std::error_code missing;
  const fs::path json = folder / (std::string(name) + ".json");
  return kind == ProfileKind::model && fs::is_regular_file(json, missing)
             ? json
             : folder / (std::string(name) + ".yaml");
}

fs::path Library::fitted(std::string_view name) const {
  return folder_ / "fitted" / (std::string(name) + ".yaml");
}

std::optional<Document> Library::load(ProfileKind kind, std::string_view name,
                                      std::optional<Span> asked, SourceMap& sources,
                                      Diagnostics& diagnostics) const {
  if (is_own_file(name)) {
    try {
      const fs::path file = own_file(name, asked, sources);
      auto document = load_yaml_file(file.string(), sources, diagnostics);
      if (document) {
        sources.mark_users_own(document->source);
      }
      return document;
    } catch (const std::runtime_error& error) {
      diagnostics.error(asked, error.what());
      return std::nullopt;
    }
  }
  if (has(kind, name)) {
    return load_yaml_file(path(kind, name).string(), sources, diagnostics);
  }
  report_unknown(kind, name, asked, diagnostics);
  return std::nullopt;
}

void Library::report_unknown(ProfileKind kind, std::string_view name, std::optional<Span> asked,
                             Diagnostics& diagnostics) const {
  const std::string folder(folder_of(kind));
  diagnostics.error(asked, "no " + folder + " " + backquoted(name),
                    did_you_mean(closest(std::string(name), names(kind))),
                    "`payoff profiles list " + folder + "` shows them all");
}

}  // namespace payoff
