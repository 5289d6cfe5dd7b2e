// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "profiles/diagnostics.hpp"
#include "profiles/document.hpp"

// Values that are put over a document before it is read: `--set cluster.inter.bandwidth='200
// Gb/s'`, other options that stand for a key, and the file named by `base: other.yaml`. They carry
// their own places, so every later check points at the argument or into the right file.

namespace payoff {

// Applies `--set KEY.PATH=VALUE`; `argument` is VALUE's place on the command line and `setting` the
// text after `--set`. Sections that do not exist are made; `compress.0.rank` goes into a list, one
// past its end appends. A value that starts with `[`, `{` or a quote is read as YAML, any other is
// taken as it stands. Returns false when it could not be applied; that is reported.
bool apply_override(Node& root, int argument, std::string_view setting, SourceMap& sources,
                    Diagnostics& diagnostics);

// The same for an option that stands for a key. `key` is where the errors of sections point.
bool set_value(Node& root, std::string_view path, Node value, Span key, Diagnostics& diagnostics);

// The text under `span` as a value.
[[nodiscard]] Node scalar_node(Span span, const SourceMap& sources);
// The same, where `[`, `{` or a quote begins YAML; nothing where that is wrong, which is reported.
[[nodiscard]] std::optional<Node> value_node(Span span, const SourceMap& sources,
                                             Diagnostics& diagnostics);

// Puts `over` on top of `base`: maps are merged key by key, anything else is replaced.
[[nodiscard]] Node merged(Node base, Node over);

// Loads a document and the chain of files that its top-level `base` names, each relative to the
// folder of the file that names it. Throws std::runtime_error when `path` itself cannot be read;
// what is wrong further on (a missing base, a circle) is reported.
[[nodiscard]] std::optional<Document> load_with_base(const std::string& path, SourceMap& sources,
                                                     Diagnostics& diagnostics);

}  // namespace payoff
