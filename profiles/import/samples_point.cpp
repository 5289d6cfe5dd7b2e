// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/samples_point.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "profiles/import/json_tree.hpp"
#include "profiles/import/samples_rules.hpp"

namespace payoff::import_detail {
namespace {

constexpr std::array<std::string_view, 24> point_keys{
    "kernel",          "family",      "implementation",  "input",      "state",     "mode",
    "parameters",      "read_bytes",  "written_bytes",   "flops",      "launches",  "host_syncs",
    "random_accesses", "samples_us",  "discarded",       "stop",       "timed_out", "gated",
    "clock_ratios",    "clock_ratio", "clock_reference", "stands_for", "checksum",  "instead_of"};
constexpr std::array<std::string_view, 2> spread_keys{"count", "noise_ratio"};

double whole_amount(const Node& map, std::string_view key, double smallest, JsonValues& values) {
  const double value = values.number(map, key, smallest, true, most_count);
  if (std::floor(value) != value) {
    values.wrong(map.find(key)->value.span, fmt::format("`{}` cannot be {}", key, value),
                 "a whole number");
  }
  return value;
}

// A key that says how samples were taken is there only where they were taken otherwise.
bool is_gated(const Node& map, JsonValues& values) {
  const Node* gated = values.find(map, "gated", Node::Kind::scalar, false);
  if (gated != nullptr && (gated->text != "false" || is_quoted(*gated))) {
    values.wrong(gated->span, "`gated` cannot be " + describe(*gated),
                 "false, or absent where the samples waited until all was queued");
  }
  return gated == nullptr;
}

void check_clocks(const Node& map, std::size_t samples, JsonValues& values) {
  const Node* clocks = values.find(map, "clock_ratios", Node::Kind::list, false);
  if (clocks == nullptr) {
    return;
  }
  for (const Node& clock : clocks->items) {
    (void)values.number_of(clock, "clock_ratios", 0.0, highest_clock_ratio);
  }
  if (clocks->items.size() != samples) {
    values.wrong(clocks->span,
                 fmt::format("{} `clock_ratios` of {} samples", clocks->items.size(), samples),
                 "one of each");
  }
}

}  // namespace

void read_amounts(const Node& node, SamplesPoint& point, JsonValues& values) {
  point.read = Bytes{values.number(node, "read_bytes", 0.0, true, most_traffic)};
  point.written = Bytes{values.number(node, "written_bytes", 0.0, true, most_traffic)};
  point.flops = Flops{values.number(node, "flops", 0.0, true, most_flops)};
  point.random_accesses = values.number(node, "random_accesses", 0.0, false, most_traffic);
  point.launches = whole_amount(node, "launches", 0.0, values);
  point.host_syncs = whole_amount(node, "host_syncs", 0.0, values);
  point.discarded = static_cast<std::size_t>(whole_amount(node, "discarded", 0.0, values));
  (void)choice_of(values, node, "stop", stop_choices);
  if (node.find("timed_out") != nullptr) {
    (void)whole_amount(node, "timed_out", 1.0, values);
  }
  point.gated = is_gated(node, values);
}

void read_times(const Node& node, SamplesPoint& point, JsonValues& values) {
  if (const Node* spread = values.find(node, "stands_for", Node::Kind::map, false)) {
    const double count = whole_amount(*spread, "count", 1.0, values);
    point.stands_for = SamplesSpread{static_cast<std::size_t>(count),
                                     values.number(*spread, "noise_ratio", 0.0, false)};
    values.refuse_others(*spread, spread_keys);
  }
  if (node.find("clock_ratio") != nullptr) {
    point.clock_ratio =
        values.number(node, "clock_ratio", least_clock_ratio, true, highest_clock_ratio);
  }
  if (node.find("clock_reference") != nullptr) {
    point.clock_reference = values.number(node, "clock_reference", least_clock_ratio, true, 1.0);
  }
  if (const Node* samples = values.find(node, "samples_us", Node::Kind::list, true)) {
    point.samples.reserve(samples->items.size());
    for (const Node& sample : samples->items) {
      point.samples.push_back(1_us * values.number_of(sample, "samples_us", shortest_sample / 1_us,
                                                      longest_sample / 1_us));
    }
    check_clocks(node, samples->items.size(), values);
  }
  check_instead(node, values);
  (void)values.text(node, "checksum", false);
  values.refuse_others(node, point_keys);
}

}  // namespace payoff::import_detail
