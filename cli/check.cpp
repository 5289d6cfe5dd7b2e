// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/command_line.hpp"
#include "cli/commands.hpp"
#include "cli/profile_library.hpp"
#include "cli/session.hpp"
#include "profiles/document.hpp"
#include "profiles/read_experiment.hpp"
#include "profiles/read_hardware.hpp"
#include "profiles/read_method.hpp"
#include "profiles/read_model.hpp"
#include "profiles/read_software.hpp"

// payoff check: every mistake of experiment and profile files, without predicting anything.

namespace payoff {
namespace {

// A profile says what it is in its first key; an experiment has sections.
constexpr std::array<std::pair<std::string_view, ProfileKind>, 7> profile_keys = {{
    {"gpu", ProfileKind::gpu},
    {"fabric", ProfileKind::fabric},
    {"network", ProfileKind::network},
    {"cluster", ProfileKind::cluster},
    {"software", ProfileKind::software},
    {"method", ProfileKind::compression},
    {"model", ProfileKind::model},
}};

std::optional<ProfileKind> kind_of(const Node& root) {
  if (root.entries.empty() || root.entries.front().value.kind != Node::Kind::scalar) {
    return std::nullopt;
  }
  for (const auto& [key, kind] : profile_keys) {
    if (root.entries.front().key == key) {
      return kind;
    }
  }
  return std::nullopt;
}

// A profile is read with the folder it lies in as the library, so that what it refers to is found
// beside it; a lone file with the shipped one.
Library library_of(const std::filesystem::path& file, ProfileKind kind) {
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  return folder.filename() == folder_of(kind) ? Library(folder.parent_path()) : find_library();
}

void check_profile(ProfileKind kind, const std::filesystem::path& file, Session& session) {
  const Library library = library_of(file, kind);
  const ReadContext context{library, session.sources(), session.diagnostics()};
  const std::string name = file.stem().string();
  switch (kind) {
    case ProfileKind::gpu:
      (void)read_gpu(name, std::nullopt, context);
      return;
    case ProfileKind::fabric:
      (void)read_fabric(name, std::nullopt, context);
      return;
    case ProfileKind::network:
      (void)read_network(name, std::nullopt, context);
      return;
    case ProfileKind::cluster:
      (void)read_cluster(name, std::nullopt, context);
      return;
    case ProfileKind::software:
      (void)read_software(name, std::nullopt, context);
      return;
    case ProfileKind::compression:
      (void)read_method(file.string(), std::nullopt, context);
      return;
    case ProfileKind::model:
      (void)read_model_file(file, context);
      return;
  }
}

// What the file turned out to be.
std::string_view check_file(const std::filesystem::path& file, Session& session) {
  const Library library = find_library();
  const ReadContext shipped{library, session.sources(), session.diagnostics()};
  if (file.extension() == ".json") {
    (void)read_model_file(file, shipped);
    return "model";
  }
  SourceMap sources;  // only to see what it is: the reader reports what is wrong
  Diagnostics diagnostics;
  const auto document = load_yaml_file(file.string(), sources, diagnostics);
  const auto kind = document ? kind_of(document->root) : std::nullopt;
  if (kind) {
    check_profile(*kind, file, session);
    return folder_of(*kind);
  }
  (void)read_experiment(file, {}, shipped);
  return "experiment";
}

ExitCode run_check(const Arguments& arguments, Session& session) {
  std::string good;
  for (const Argument& argument : arguments.positionals()) {
    const std::size_t errors = session.diagnostics().error_count();
    const std::string_view what = check_file(argument.text, session);
    if (session.diagnostics().error_count() == errors) {
      good += fmt::format("{}: {}, no mistakes\n", argument.text, what);
    }
  }
  session.out() << good;
  return session.report();
}

}  // namespace

Command check_command() {
  return {"check",
          "finds every mistake in experiment and profile files, and runs nothing",
          "payoff check examples/01-resnet50-v100/experiment.yaml",
          {"FILE...", "experiments, profiles, or Hugging Face config.json files", 1, 10'000},
          {},
          run_check};
}

}  // namespace payoff
