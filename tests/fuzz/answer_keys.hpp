// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

// What `answer` puts jobs together from: keys with values from the edges of their ranges and from
// beyond, and small jobs to set them in. Inputs in words keep their
// meaning as long as these lists only grow at the end; bytes are taken modulo a list's size.

namespace payoff::fuzz {

struct AnswerKey {
  std::string_view path;
  std::span<const std::string> values;
};

[[nodiscard]] std::span<const AnswerKey> answer_keys();
[[nodiscard]] std::span<const std::string_view> answer_jobs();

}  // namespace payoff::fuzz
