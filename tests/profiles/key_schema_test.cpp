// SPDX-License-Identifier: Apache-2.0
#include "profiles/key_schema.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "profiles/document.hpp"
#include "profiles/record_keys.hpp"
#include "tests/catch.hpp"

// The schema is made of what the readers ask for. What could still be missing is a branch of a
// reader that no document of profiles/keys leads to: every key that is asked for has to stand in
// one of them, and every key that a shipped file leads to has to be known.

using namespace payoff;

namespace {

namespace fs = std::filesystem;

const fs::path source{PAYOFF_SOURCE_DIR};

const Library& library() {
  static const Library folder(source / "profiles");
  return folder;
}

// Keys of the record that stand in none of the nodes, which are the values at one path.
void find_unwritten(const KeyRecord& keys, const std::vector<const Node*>& nodes,
                    const std::string& path, std::vector<std::string>& unwritten) {
  for (const auto& [name, below] : keys.keys) {
    std::vector<const Node*> values;
    for (const Node* node : nodes) {
      if (const Entry* entry = node->find(name)) {
        values.push_back(&entry->value);
      }
    }
    if (values.empty()) {
      unwritten.push_back(join_path(path, name));
    } else {
      find_unwritten(*below, values, join_path(path, name), unwritten);
    }
  }
  std::vector<const Node*> inner;
  for (const Node* node : nodes) {
    for (const Node& item : node->items) {
      inner.push_back(&item);
    }
  }
  if (keys.item) {
    find_unwritten(*keys.item, inner, path + "[]", unwritten);
  }
  inner.clear();
  for (const Node* node : nodes) {
    for (const Entry& entry : node->entries) {
      inner.push_back(&entry.value);
    }
  }
  if (keys.entry) {
    find_unwritten(*keys.entry, inner, join_path(path, "*"), unwritten);
  }
}

// Keys of `found` that `known` lacks.
void find_unknown(const KeyRecord& found, const KeyRecord& known, const std::string& path,
                  std::vector<std::string>& unknown) {
  for (const auto& [name, below] : found.keys) {
    const KeyRecord* same = known.find(name);
    if (same == nullptr) {
      unknown.push_back(join_path(path, name));
    } else {
      find_unknown(*below, *same, join_path(path, name), unknown);
    }
  }
  if (found.item && known.item) {
    find_unknown(*found.item, *known.item, path + "[]", unknown);
  }
  if (found.entry && known.entry) {
    find_unknown(*found.entry, *known.entry, join_path(path, "*"), unknown);
  }
}

bool is_experiment(const fs::path& file) {
  return read_text_file(file.string()).find("\nexperiment:") != std::string::npos;
}

std::vector<fs::path> shipped_files(std::string_view kind) {
  std::vector<fs::path> files;
  const auto add = [&](const fs::path& folder, bool deep) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const fs::path file = entry.path();
      if (file.extension() == ".yaml" && file.stem() != "sources" &&
          (deep || file.parent_path() == folder)) {
        files.push_back(file);
      }
    }
  };
  if (kind == "topology") {
    add(source / "examples/topologies", false);
    std::erase_if(files, is_experiment);
  } else if (kind == "gossip") {
    add(source / "examples/gossip", false);
  } else if (kind == "experiment") {
    for (const auto& entry : fs::directory_iterator(source / "examples")) {
      if (fs::exists(entry.path() / "experiment.yaml")) {
        files.push_back(entry.path() / "experiment.yaml");
      }
    }
  } else {
    add(source / "profiles" / kind, true);
  }
  return files;
}

KeyRecord keys_of_text(const std::string& text, std::string_view kind) {
  const fs::path file = fs::temp_directory_path() / "payoff_key_schema_test.yaml";
  std::ofstream(file) << text;
  KeyRecord keys;
  record_keys(kind, file, library(), keys);
  fs::remove(file);
  return keys;
}

nlohmann::json schema_of(const KeyRecord& keys) {
  return nlohmann::json::parse(json_schema("x", keys, [](std::string_view) { return ""; }));
}

}  // namespace

TEST_CASE("every key that a reader asks for stands in a document of profiles/keys") {
  for (const std::string_view kind : document_kinds()) {
    INFO(kind);
    SourceMap sources;
    Diagnostics diagnostics;
    std::vector<Document> documents;
    for (const fs::path& file : key_documents(kind, library())) {
      documents.push_back(load_yaml_file(file.string(), sources, diagnostics).value());
    }
    if (kind == "experiment") {  // where the keys of a topology may stand
      for (const fs::path& file : key_documents("topology", library())) {
        Document topology = load_yaml_file(file.string(), sources, diagnostics).value();
        std::erase_if(topology.root.entries,
                      [](const Entry& entry) { return entry.key == "topology"; });
        Node cluster;
        cluster.kind = Node::Kind::map;
        cluster.entries.push_back({"topology", {}, std::move(topology.root)});
        topology.root = Node{};
        topology.root.kind = Node::Kind::map;
        topology.root.entries.push_back({"cluster", {}, std::move(cluster)});
        documents.push_back(std::move(topology));
      }
    }
    std::vector<const Node*> roots;
    for (const Document& document : documents) {
      roots.push_back(&document.root);
    }
    std::vector<std::string> unwritten;
    find_unwritten(all_keys(kind, library()), roots, "", unwritten);
    CHECK(unwritten == std::vector<std::string>{});
  }
}

TEST_CASE("every key that a shipped file leads its reader to is in the schema") {
  for (const std::string_view kind : document_kinds()) {
    INFO(kind);
    const KeyRecord known = all_keys(kind, library());
    KeyRecord found;
    for (const fs::path& file : shipped_files(kind)) {
      record_keys(kind, file, library(), found);
    }
    CHECK_FALSE(found.keys.empty());
    std::vector<std::string> unknown;
    find_unknown(found, known, "", unknown);
    CHECK(unknown == std::vector<std::string>{});
  }
}

TEST_CASE("a schema has the forms, names, units and ranges that the reader holds values to") {
  const nlohmann::json schema = schema_of(all_keys("experiment", library()));
  const nlohmann::json& layout = schema["properties"]["layout"]["properties"];
  CHECK(layout["zero"]["anyOf"][0] ==
        nlohmann::json{{"type", "integer"}, {"minimum", 0}, {"maximum", 3}});
  CHECK(layout["recompute"]["anyOf"][0]["enum"] == nlohmann::json{"none", "selective", "full"});
  const nlohmann::json& bucket = schema["properties"]["training"]["properties"]["bucket"];
  CHECK(bucket["anyOf"][0]["$ref"] == "#/definitions/size");
  CHECK_FALSE(schema["additionalProperties"].get<bool>());
  CHECK_FALSE(schema.contains("required"));  // of a file with a `base`
  CHECK(schema["then"]["required"] == nlohmann::json{"cluster", "model"});
}

TEST_CASE("a key is required where its reader required it in every section that it opened") {
  const KeyRecord keys = keys_of_text(
      "fabric: x\ndescription: d\nkind: switch\ngeneration: nvlink3\nbandwidth: 1 GB/s\n"
      "max_gpus: 2\nnvls: false\ncrosses_sockets: false\n",
      "fabric");
  const nlohmann::json required = schema_of(keys)["required"];
  CHECK(std::find(required.begin(), required.end(), "max_gpus") != required.end());
  CHECK(std::find(required.begin(), required.end(), "pair_bandwidth") == required.end());
}
