// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

// Options that stand for keys of an experiment's file: `--dp 32` for `layout.dp`.

namespace payoff {

struct KeyOption {
  std::string_view option;
  std::string_view value;  // as in the help; empty: a flag
  std::string_view path;
  std::string_view text;  // that a flag stands for
  std::string_view help;
};

[[nodiscard]] std::span<const KeyOption> key_options();

// The key that an option stands for: "cluster.nodes" of "nodes"; empty where there is none.
[[nodiscard]] std::string_view key_of_option(std::string_view name);

// What the help says of a key that an option stands for; of a flag's nothing, as it may say the
// reverse.
[[nodiscard]] std::string_view help_of_key(std::string_view path);

}  // namespace payoff
