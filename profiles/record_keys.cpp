// SPDX-License-Identifier: Apache-2.0
#include "profiles/record_keys.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "profiles/override.hpp"
#include "profiles/read_experiment.hpp"
#include "profiles/read_gossip.hpp"
#include "profiles/read_hardware.hpp"
#include "profiles/read_method.hpp"
#include "profiles/read_model.hpp"
#include "profiles/read_software.hpp"
#include "profiles/read_topology.hpp"

namespace payoff {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view experiment_kind = "experiment";
constexpr std::string_view topology_kind = "topology";
constexpr std::string_view gossip_kind = "gossip";

constexpr std::array profile_kinds{
    ProfileKind::gpu,   ProfileKind::fabric,   ProfileKind::network,    ProfileKind::cluster,
    ProfileKind::model, ProfileKind::software, ProfileKind::compression};

// One reading whose mistakes are nobody's business: `payoff check` tells them.
class Recording {
 public:
  Recording(const fs::path& file, const Library& library, KeyRecord& keys)
      : file_(file), context_{library, sources_, diagnostics_} {
    document_ = load_yaml_file(file.string(), sources_, diagnostics_);
    if (!document_) {
      throw std::runtime_error("cannot read " + backquoted(file.string()));
    }
    sources_.record_keys(document_->source, keys);
  }

  void read_profile(ProfileKind kind) {
    const std::string name = file_.string();
    switch (kind) {
      case ProfileKind::gpu:
        (void)read_gpu(name, std::nullopt, context_);
        return;
      case ProfileKind::fabric:
        (void)read_fabric(name, std::nullopt, context_);
        return;
      case ProfileKind::network:
        (void)read_network(name, std::nullopt, context_);
        return;
      case ProfileKind::cluster:
        (void)read_cluster(name, std::nullopt, context_);
        return;
      case ProfileKind::software:
        (void)read_software(name, std::nullopt, context_);
        return;
      case ProfileKind::compression:
        (void)read_method(name, std::nullopt, context_);
        return;
      case ProfileKind::model:
        (void)read_model(name, std::nullopt, context_);
        return;
    }
  }

  void read_experiment() { (void)payoff::read_experiment(*document_, {}, context_); }

  void read_topology() { (void)payoff::read_topology(*document_, sources_, diagnostics_); }

  void read_gossip() { (void)payoff::read_gossip(*document_, sources_, diagnostics_); }

  // The keys of a topology may stand in an experiment, too.
  void read_experiment_on(const fs::path& topology) {
    auto other = load_yaml_file(topology.string(), sources_, diagnostics_);
    Entry* cluster = document_->root.find("cluster");
    if (!other || cluster == nullptr) {
      return;
    }
    std::erase_if(other->root.entries, [](const Entry& entry) {
      return entry.key == topology_kind || entry.key == "citations";
    });
    std::erase_if(cluster->value.entries,
                  [](const Entry& entry) { return entry.key == topology_kind; });
    cluster->value.entries.push_back(
        {std::string(topology_kind), cluster->key_span, std::move(other->root)});
    read_experiment();
  }

 private:
  fs::path file_;
  SourceMap sources_;
  Diagnostics diagnostics_;
  ReadContext context_;
  std::optional<Document> document_;
};

}  // namespace

std::vector<std::string_view> document_kinds() {
  std::vector<std::string_view> kinds{experiment_kind, topology_kind, gossip_kind};
  for (const ProfileKind kind : profile_kinds) {
    kinds.push_back(folder_of(kind));
  }
  return kinds;
}

std::vector<fs::path> key_documents(std::string_view kind, const Library& library) {
  std::vector<fs::path> files;
  const fs::path folder = library.folder() / "keys";
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(folder, missing)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(std::string(kind) + ".") && name.ends_with(".yaml")) {
      files.push_back(entry.path());
    }
  }
  if (files.empty()) {
    throw std::runtime_error("no file in " + backquoted(folder.string()) + " is of " +
                             std::string(kind));
  }
  std::sort(files.begin(), files.end());
  return files;
}

void record_keys(std::string_view kind, const fs::path& file, const Library& library,
                 KeyRecord& keys) {
  Recording recording(file, library, keys);
  if (kind == experiment_kind) {
    recording.read_experiment();
  } else if (kind == topology_kind) {
    recording.read_topology();
  } else if (kind == gossip_kind) {
    recording.read_gossip();
  } else {
    for (const ProfileKind profile : profile_kinds) {
      if (kind == folder_of(profile)) {
        recording.read_profile(profile);
      }
    }
  }
}

KeyRecord all_keys(std::string_view kind, const Library& library) {
  KeyRecord keys;
  const std::vector<fs::path> files = key_documents(kind, library);
  for (const fs::path& file : files) {
    record_keys(kind, file, library, keys);
  }
  if (kind == experiment_kind) {
    for (const fs::path& topology : key_documents(topology_kind, library)) {
      Recording(files.front(), library, keys).read_experiment_on(topology);
    }
  }
  return keys;
}

}  // namespace payoff
