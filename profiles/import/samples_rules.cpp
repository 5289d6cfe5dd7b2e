// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/samples_rules.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "profiles/import/foreign_parts.hpp"
#include "profiles/suggest.hpp"

namespace payoff::import_detail {
namespace {

constexpr std::array<std::string_view, 20> counted_parameters{
    "elements", "rows",     "columns", "m",     "n",       "k",       "rank",
    "ratio",    "batch",    "size",    "bytes", "bits",    "group",   "workers",
    "chunk",    "channels", "gpus",    "nodes", "threads", "launches"};

}  // namespace

bool counts_something(std::string_view name) {
  return std::find(counted_parameters.begin(), counted_parameters.end(), name) !=
         counted_parameters.end();
}

double least_parameter(std::string_view name) {
  return counts_something(name) ? 0.0 : std::numeric_limits<double>::lowest();
}

std::string one_of(std::span<const std::string_view> values) {
  return fmt::format("one of {}", fmt::join(values, ", "));
}

std::string nearest_of(std::string_view word, std::span<const std::string_view> values) {
  const std::string_view nearest = closest(word, values);
  return nearest.empty() ? one_of(values) : did_you_mean(nearest);
}

std::string choice_of(JsonValues& values, const Node& map, std::string_view key,
                      std::span<const std::string_view> choices) {
  const Node* node = values.find(map, key, Node::Kind::scalar, true);
  if (node == nullptr) {
    return "";
  }
  if (std::find(choices.begin(), choices.end(), node->text) == choices.end()) {
    values.wrong(node->span, fmt::format("unknown {} {}", key, backquoted(node->text)),
                 nearest_of(node->text, choices));
  }
  return node->text;
}

void check_instead(const Node& map, JsonValues& values) {
  if (map.find("instead_of") != nullptr) {
    (void)choice_of(values, map, "instead_of", replaced_precisions);
  }
}

std::string kernel_of(JsonValues& values, const Node& map) {
  const Node* node = values.find(map, "kernel", Node::Kind::scalar, true);
  if (node == nullptr) {
    return "";
  }
  const std::string usual = kernel_name(node->text);
  if (usual != node->text || usual.empty()) {
    values.wrong(node->span, "the name of a kernel is of a-z, 0-9 and _", did_you_mean(usual));
  }
  return node->text;
}

std::map<std::string, double> parameters_of(JsonValues& values, const Node& map) {
  std::map<std::string, double> parameters;
  if (const Node* node = values.find(map, "parameters", Node::Kind::map, true)) {
    for (const Entry& each : node->entries) {
      parameters[each.key] = values.number_of(each.value, each.key, least_parameter(each.key));
    }
  }
  return parameters;
}

void report_impossible(const SamplesPoint& point, Diagnostics& diagnostics) {
  const auto check = [&](std::string_view what, double value, double smallest, double largest) {
    const bool is_possible = value >= smallest && value <= largest;  // no NaN is
    if (!is_possible) {
      diagnostics.error(point.place,
                        fmt::format("{}: `{}` cannot be {}", point.kernel, what, value),
                        value < smallest ? fmt::format("at least {}", smallest)
                                         : fmt::format("at most {}", largest));
    }
  };
  check("read_bytes", point.read.si, 0.0, most_traffic);
  check("written_bytes", point.written.si, 0.0, most_traffic);
  check("flops", point.flops.si, 0.0, most_flops);
  check("random_accesses", point.random_accesses, 0.0, most_traffic);
  check("launches", point.launches, 0.0, most_count);
  check("host_syncs", point.host_syncs, 0.0, most_count);
  for (const auto& [name, value] : point.parameters) {
    check(name, value, least_parameter(name), std::numeric_limits<double>::max());
  }
}

}  // namespace payoff::import_detail
