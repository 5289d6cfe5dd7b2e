// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/override.hpp"

namespace payoff {
namespace {

namespace fs = std::filesystem;

// The file's one name, so that a circle is seen however its files are spelt.
fs::path one_name(const fs::path& path) {
  std::error_code ignored;
  const fs::path name = fs::weakly_canonical(path, ignored);
  return name.empty() ? path.lexically_normal() : name;
}

void remove(Node& map, std::string_view key) {
  std::erase_if(map.entries, [&](const Entry& entry) { return entry.key == key; });
}

// The file that this document builds on: nothing when it names none, or wrongly.
std::optional<fs::path> base_of(const Node& root, const fs::path& file,
                                const std::vector<fs::path>& chain, Diagnostics& diagnostics) {
  const Entry* base = root.find("base");
  if (base == nullptr) {
    return std::nullopt;
  }
  if (base->value.kind != Node::Kind::scalar) {
    diagnostics.error(base->key_span, "`base` is not the name of a file",
                      "this is " + describe(base->value), "for example `base: other.yaml`");
    return std::nullopt;
  }
  fs::path path = file.parent_path() / base->value.text;
  if (std::find(chain.begin(), chain.end(), one_name(path)) != chain.end()) {
    diagnostics.error(base->value.span, "`base` goes round in a circle",
                      "this file builds on the one that names it");
    return std::nullopt;
  }
  return path;
}

}  // namespace

Node merged(Node base, Node over) {
  if (base.kind != Node::Kind::map || over.kind != Node::Kind::map) {
    return over;
  }
  base.span = over.span;
  base.entries.reserve(base.entries.size() + over.entries.size());  // so that no key moves
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < base.entries.size(); ++i) {
    places.emplace(base.entries[i].key, i);
  }
  for (Entry& entry : over.entries) {
    const auto place = places.find(entry.key);
    if (place == places.end()) {
      base.entries.push_back(std::move(entry));
      continue;
    }
    Entry& below = base.entries[place->second];
    below.key_span = entry.key_span;
    below.value = merged(std::move(below.value), std::move(entry.value));
  }
  return base;
}

std::optional<Document> load_with_base(const std::string& path, SourceMap& sources,
                                       Diagnostics& diagnostics) {
  std::optional<Document> document = load_yaml_file(path, sources, diagnostics);
  if (!document) {
    return std::nullopt;
  }
  std::vector<fs::path> chain{one_name(path)};
  fs::path file = path;
  while (const std::optional<fs::path> base = base_of(document->root, file, chain, diagnostics)) {
    const Span named = document->root.find("base")->value.span;
    chain.push_back(one_name(*base));
    file = *base;
    remove(document->root, "base");
    try {
      std::optional<Document> below = load_yaml_file(base->string(), sources, diagnostics);
      if (!below) {
        return std::nullopt;
      }
      document->root = merged(std::move(below->root), std::move(document->root));
    } catch (const std::runtime_error& error) {
      diagnostics.error(named, error.what());
      return std::nullopt;
    }
  }
  remove(document->root, "base");
  return document;
}

}  // namespace payoff
