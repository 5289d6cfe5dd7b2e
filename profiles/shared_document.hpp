// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "profiles/document.hpp"

// A file as load_yaml_file reads it (profiles/document.hpp), without a copy of its tree: for large
// files of which a reader wants a small part, over and over.

namespace payoff {

struct SharedDocument {
  std::shared_ptr<const Node> root;
  std::size_t source = 0;
};

[[nodiscard]] std::optional<SharedDocument> share_yaml_file(const std::string& path,
                                                            SourceMap& sources,
                                                            Diagnostics& diagnostics);

}  // namespace payoff
