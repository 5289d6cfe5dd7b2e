// SPDX-License-Identifier: Apache-2.0
#include "cli/diff_picture.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "cli/table.hpp"
#include "model/units_text.hpp"

namespace payoff {
namespace {

// "cluster.nodes: 8, then 16", cut where it is longer than a picture has room for.
std::string label_of(const Cause& cause) {
  constexpr std::size_t widest = 40;
  if (cause.kind != Cause::Kind::keys || cause.keys.empty()) {
    return what_is(cause);
  }
  const ChangedKey& key = cause.keys.front();
  const std::string then = key.in_b ? one_line(*key.in_b) : "not given";
  std::string text = key.in_a ? fmt::format("{}: {}, then {}", key.path, one_line(*key.in_a), then)
                              : fmt::format("{}: {}", key.path, then);
  if (text.size() > widest) {
    text = key.path;
  }
  return cause.keys.size() > 1 ? fmt::format("{} and {} more", key.path, cause.keys.size() - 1)
                               : text;
}

}  // namespace

Bridge diff_picture(const DiffReport& report) {
  const Difference& found = report.difference;
  const bool in_seconds = std::max(found.a, found.b) >= 1_s;
  const Seconds unit = in_seconds ? 1_s : 1_ms;
  Bridge bridge;
  bridge.title = "Why the steps differ: causes that add up";
  bridge.captions = {"A: " + report.a, "B: " + report.b};
  bridge.x_label = in_seconds ? "time of a step [s]" : "time of a step [ms]";
  bridge.bars.push_back({"step of A", 0.0, found.a / unit, to_text(found.a), true});
  Seconds at = found.a;
  for (const Cause& cause : found.causes) {
    const Seconds next = at + cause.contribution;
    bridge.bars.push_back({label_of(cause), at / unit, next / unit,
                           fmt::format("{}{}", cause.contribution > Seconds{} ? "+" : "",
                                       significant(cause.contribution / unit)),
                           false});
    at = next;
  }
  bridge.bars.push_back({"step of B", 0.0, found.b / unit, to_text(found.b), true});
  return bridge;
}

}  // namespace payoff
