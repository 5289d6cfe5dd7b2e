// SPDX-License-Identifier: Apache-2.0
#include "cli/input_json.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/sha256.hpp"
#include "cli/yaml_writer.hpp"

namespace payoff {
namespace {

using Json = nlohmann::ordered_json;

Json files_json(const Library& library, const SourceMap& sources,
                std::optional<std::size_t> experiment) {
  std::vector<std::pair<std::string, std::string>> files;
  const std::string folder = library.folder().string() + "/";
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].argument || i == experiment) {
      continue;
    }
    const std::string& name = sources[i].name;
    const bool shipped = name.starts_with(folder);
    files.emplace_back(shipped ? name.substr(folder.size()) : name, sha256(sources[i].text));
  }
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  Json json = Json::array();
  for (const auto& [name, digest] : files) {
    json.push_back({{"file", name}, {"sha256", digest}});
  }
  return json;
}

}  // namespace

Json experiment_json(const ReadExperiment& read) {
  const std::string yaml = written_yaml(read.document.root);
  return {{"name", read.experiment.name}, {"sha256", sha256(yaml)}, {"yaml", yaml}};
}

Json profiles_json(const Library& library, const SourceMap& sources) {
  return files_json(library, sources, std::nullopt);
}

Json profiles_json(const Library& library, const SourceMap& sources, const ReadExperiment& read) {
  return files_json(library, sources, read.document.source);
}

}  // namespace payoff
