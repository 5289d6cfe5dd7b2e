// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/check_inputs.hpp"
#include "cli/command_line.hpp"
#include "cli/commands.hpp"
#include "cli/json_output.hpp"
#include "cli/profile_library.hpp"
#include "cli/result_kind.hpp"
#include "cli/session.hpp"
#include "cli/topology_file.hpp"
#include "cli/topology_text.hpp"
#include "profiles/document.hpp"
#include "profiles/library.hpp"
#include "profiles/read_experiment.hpp"
#include "profiles/read_gossip.hpp"
#include "profiles/read_model.hpp"
#include "sim/topology.hpp"

// payoff check: every mistake of experiment and profile files, without predicting anything.

namespace payoff {
namespace {

// The key that says what a profile is, those first that are parts of no other.
constexpr std::array<std::pair<std::string_view, ProfileKind>, 7> profile_keys = {{
    {"cluster", ProfileKind::cluster},
    {"method", ProfileKind::compression},
    {"model", ProfileKind::model},
    {"software", ProfileKind::software},
    {"fabric", ProfileKind::fabric},
    {"network", ProfileKind::network},
    {"gpu", ProfileKind::gpu},
}};

// An experiment has sections, a profile a description; without one, its first key says its kind.
std::optional<ProfileKind> kind_of(const Node& root) {
  const auto has = [&](std::string_view key) { return root.find(key) != nullptr; };
  const bool experiment = has("layout") || has("training") || has("compress") ||
                          has("experiment") || has("base") || (has("cluster") && has("model"));
  if (root.entries.empty() || experiment) {
    return std::nullopt;
  }
  for (const auto& [key, kind] : profile_keys) {
    const Entry* entry = root.find(key);
    const bool named = entry != nullptr && entry->value.kind == Node::Kind::scalar;
    if (named && (has("description") || entry == &root.entries.front())) {
      return kind;
    }
  }
  return std::nullopt;
}

namespace fs = std::filesystem;

// Where the file is one of a library of profiles: it is read by its name, so that it is held to
// what is asked of shipped profiles (a source for every number), and finds its parts beside it.
std::optional<Library> library_around(const fs::path& file, ProfileKind kind) {
  std::error_code unknown;
  const fs::path folder = fs::absolute(file, unknown).lexically_normal().parent_path();
  const fs::path root = folder.parent_path();
  const Library library(root);
  const bool is_library = folder.filename() == folder_of(kind) &&
                          fs::is_directory(root / folder_of(ProfileKind::gpu), unknown) &&
                          fs::is_directory(root / folder_of(ProfileKind::cluster), unknown);
  const bool is_its_file =
      is_library && fs::equivalent(library.path(kind, file.stem().string()), file, unknown);
  return is_its_file ? std::optional(library) : std::nullopt;
}

void check_profile(ProfileKind kind, const Argument& argument, Session& session) {
  const fs::path file = argument.text;
  const std::optional<Library> around = library_around(file, kind);
  const Library library = around ? *around : find_library();
  const ReadContext context{library, session.sources(), session.diagnostics()};
  // Any other file is the user's own, and is read as it is where its path stands for a name.
  const std::string name = around ? file.stem().string() : file.string();
  if (!around && !is_own_file(name)) {
    session.diagnostics().error(argument.span, "the name of a profile's file ends in .yaml", "",
                                "under this name no experiment can use it");
    return;
  }
  if (kind == ProfileKind::model) {
    (void)read_model_file(file, context);
  } else {
    read_for_mistakes(kind, name, context);
  }
}

// The first key of a file that is neither an experiment nor a profile.
bool begins_with(const Node& root, std::string_view key) {
  return !root.entries.empty() && root.entries.front().key == key;
}

// What `payoff calibrate fit` writes: sections of laws by name.
bool is_fitted(const Node& root) {
  constexpr std::array<std::string_view, 4> sections{"implementation", "gpu", "fabric", "network"};
  return std::any_of(sections.begin(), sections.end(), [&root](std::string_view key) {
    const Entry* section = root.find(key);
    return section != nullptr && !section->value.entries.empty() &&
           root.find("citations") != nullptr && root.find("model") == nullptr &&
           root.find("cluster") == nullptr;
  });
}

// What is good about a file, when nothing is wrong with it.
struct Checked {
  std::string_view what;
  std::string details{};
};

// Links are listed where they can be.
std::string described(const Topology& topology, const sim::TopologyGraph& graph) {
  const auto without = text_without_links(topology);
  return without ? *without : topology_text(topology, graph);
}

// The topology that an experiment puts its cluster on.
std::string cluster_topology(const ReadExperiment& read) {
  const auto& topology = read.cluster_state.topology;
  if (!topology) {
    return {};
  }
  if (auto without = text_without_links(*topology)) {
    return std::move(*without);
  }
  const sim::BuiltTopology built = sim::build(*topology);
  return built.graph ? topology_text(*topology, *built.graph) : "";
}

Checked check_topology(const std::filesystem::path& file, Session& session) {
  const auto read = read_topology_file(file, session);
  if (!read || !read->graph) {
    return {"topology"};
  }
  return {"topology", described(read->read.topology, *read->graph)};
}

Checked check_gossip(const Document& document, Session& session) {
  const ReadGossip read = read_gossip(document, session.sources(), session.diagnostics());
  std::size_t sends = 0;
  std::size_t most = 0;
  for (const auto& neighbours : read.neighbours) {
    sends += neighbours.size();
    most = std::max(most, neighbours.size());
  }
  return {"gossip", fmt::format("{} ranks, {} sends in a round, {} at most by one rank\n",
                                read.ranks, sends, most)};
}

// What the file turned out to be.
Checked check_file(const Argument& argument, Session& session) {
  if (refuse_result(argument, "an input to check", session)) {
    return {"result"};
  }
  const fs::path file = argument.text;
  const Library library = find_library();
  const ReadContext shipped{library, session.sources(), session.diagnostics(), true,
                            sim::find_in_links};
  if (file.extension() == ".json") {
    (void)read_model_file(file, shipped);
    return {"model"};
  }
  SourceMap sources;  // only to see what it is: the reader reports what is wrong
  Diagnostics diagnostics;
  const auto document = load_yaml_file(file.string(), sources, diagnostics);
  if (document && begins_with(document->root, "topology")) {
    return check_topology(file, session);
  }
  if (document && begins_with(document->root, "gossip")) {
    const auto again = load_yaml_file(file.string(), session.sources(), session.diagnostics());
    return check_gossip(*again, session);
  }
  if (document && document->root.find("over") != nullptr) {
    return {"survey", check_survey(file, session)};
  }
  if (document && is_fitted(document->root)) {
    return {"fitted laws", check_fitted(file, session)};
  }
  const auto kind = document ? kind_of(document->root) : std::nullopt;
  if (kind) {
    check_profile(*kind, argument, session);
    return {folder_of(*kind)};
  }
  const auto read = read_experiment(file, {}, shipped);
  return {"experiment", read ? cluster_topology(*read) : ""};
}

// What --json has of a file; its mistakes are told as everywhere (--error-format json).
nlohmann::ordered_json file_json(const Argument& argument, const Checked& checked,
                                 std::size_t mistakes) {
  return {{"file", argument.text},
          {"kind", checked.what},
          {"mistakes", mistakes},
          {"details", mistakes == 0 && !checked.details.empty()
                          ? nlohmann::ordered_json(checked.details)
                          : nullptr}};
}

ExitCode run_check(const Arguments& arguments, Session& session) {
  std::string good;
  nlohmann::ordered_json json = json_envelope("check", session);
  json["files"] = nlohmann::ordered_json::array();
  std::vector<std::string> unreadable;  // what they say; the others are checked all the same
  for (const Argument& argument : arguments.positionals()) {
    const std::size_t errors = session.diagnostics().error_count();
    session.reads(argument.text);
    try {
      const Checked checked = check_file(argument, session);
      json["files"].push_back(
          file_json(argument, checked, session.diagnostics().error_count() - errors));
      if (session.diagnostics().error_count() == errors) {
        good +=
            fmt::format("{}: {}, no mistakes\n{}", argument.text, checked.what, checked.details);
      }
    } catch (const std::exception& error) {
      unreadable.emplace_back(error.what());
      json["files"].push_back({{"file", argument.text}, {"unreadable", error.what()}});
    }
  }
  OutputFiles files;
  deliver({good, json.dump(2) + "\n", {}}, arguments, files, session);
  return unreadable.empty()
             ? session.report()
             : session.report_failure(fmt::format("{}", fmt::join(unreadable, "\nerror: ")));
}

}  // namespace

Command check_command() {
  return {
      "check",
      "finds every mistake in experiment, survey, profile, topology and gossip files; says what a "
      "topology carries",
      "payoff check examples/01-resnet50-v100/experiment.yaml",
      {"FILE...",
       "experiments, grids of `payoff survey`, profiles, fitted laws, topologies, graphs of "
       "gossip, "
       "or Hugging Face config.json files",
       1, 10'000},
      {json_option},
      run_check};
}

}  // namespace payoff
