// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/problem.hpp"
#include "profiles/diagnostics.hpp"
#include "profiles/document.hpp"

// Where every value of a document was written, by its dotted path. The checks of model/ know
// fields and no files: their Problems get a caret here.

namespace payoff {

class PositionMap {
 public:
  PositionMap() = default;
  explicit PositionMap(const Node& root) { add({}, root); }

  // Adds a document under a path, e.g. the profile of a GPU under "cluster.gpu". What is already
  // there stays: the place where the user wrote something beats the profile.
  void add(std::string_view path, const Node& node);
  void add(std::string_view path, Span span);

  // The place of the value, else of the nearest section around it. Items are found as `a.0` and
  // as `a[0]`.
  [[nodiscard]] std::optional<Span> find(std::string_view path) const;
  // The place of the value or section itself; nothing where it was not written.
  [[nodiscard]] std::optional<Span> at(std::string_view path) const;

 private:
  std::map<std::string, Span, std::less<>> spans_;
};

void report(const Problems& problems, const PositionMap& positions, Diagnostics& diagnostics);

}  // namespace payoff
