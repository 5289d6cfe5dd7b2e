// SPDX-License-Identifier: Apache-2.0
#include "profiles/shared_document.hpp"

#include <utility>

namespace payoff {

std::optional<SharedDocument> share_yaml_file(const std::string& path, SourceMap& sources,
                                              Diagnostics& diagnostics) {
  if (const auto before = sources.file(path); before && sources.tree(*before)) {
    return SharedDocument{sources.tree(*before), *before};
  }
  std::optional<Document> read = load_yaml_file(path, sources, diagnostics);
  if (!read) {
    return std::nullopt;
  }
  return SharedDocument{std::make_shared<const Node>(std::move(read->root)), read->source};
}

}  // namespace payoff
