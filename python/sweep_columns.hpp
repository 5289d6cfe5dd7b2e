// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

// The lines of a sweep as columns, without the lock of the interpreter: what stands in them is kept
// as numbers and as places in a list of the texts, of which most lines have the same.

namespace payoff {

struct SweepText {
  std::size_t place{};  // in SweepColumns::texts
};

using SweepCell = std::variant<std::monostate, bool, std::int64_t, double, SweepText>;

struct SweepColumn {
  std::string name;
  std::vector<SweepCell> cells;  // as many as there are rows
};

struct SweepColumns {
  std::vector<SweepColumn> columns;  // in the order in which they first come up
  std::vector<std::string> texts;
  std::size_t rows{};
};

// Of JSON Lines; those without a `job`, as the first, are no rows. Throws std::runtime_error where
// a line is no flat object.
[[nodiscard]] SweepColumns sweep_columns(std::string_view lines);

}  // namespace payoff
