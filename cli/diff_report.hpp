// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "profiles/source_map.hpp"
#include "study/difference.hpp"

// What `payoff diff` shows.

namespace payoff {

struct DiffReport {
  const Difference& difference;
  std::string a;  // "job.yaml, powersgd:rank=4"
  std::string b;
  std::vector<std::string> notes;  // sentences below the tables
  const SourceMap& sources;
  // As they were named: places in them are told by their letter.
  std::string a_file;
  std::string b_file;
};

// Every column of times adds up as printed.
[[nodiscard]] std::string diff_text(const DiffReport& report);
// The keys that only a comparison has; json_envelope() comes before.
void add_diff_json(const DiffReport& report, nlohmann::ordered_json& json);

// A value on one line: "[2, 4]", "{method: topk, ratio: 0.01}".
[[nodiscard]] std::string one_line(const Node& node);
[[nodiscard]] std::string what_is(const Cause& cause);

}  // namespace payoff
