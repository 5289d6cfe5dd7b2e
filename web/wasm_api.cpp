// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include <emscripten/emscripten.h>

#include "web/what_if.hpp"

// What a page calls. Texts are valid until the next call; an empty one says that the argument was
// not understood.

namespace {

std::optional<payoff::web::WhatIf> loaded;
std::string last;

}  // namespace

extern "C" {

// The text of store(); the answer is a JSON list of the numbers of replicas that are offered.
EMSCRIPTEN_KEEPALIVE const char* payoff_load(const char* stored, int most_gpus) {
  loaded = payoff::web::restore(stored);
  last.clear();
  if (loaded) {
    for (const int dp : payoff::web::offered_dp(loaded->experiment, most_gpus)) {
      last += (last.empty() ? "[" : ",") + std::to_string(dp);
    }
    last += "]";
  }
  return last.c_str();
}

EMSCRIPTEN_KEEPALIVE const char* payoff_answer(const char* knobs) {
  const auto read = payoff::web::restore_knobs(knobs);
  last = loaded && read ? answer_json(answer(*loaded, *read)) : std::string();
  return last.c_str();
}
}
