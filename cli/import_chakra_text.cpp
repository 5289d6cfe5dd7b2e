// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "cli/counted.hpp"
#include "cli/import_chakra.hpp"
#include "cli/import_parts.hpp"
#include "cli/table.hpp"
#include "model/units_text.hpp"

namespace payoff {
namespace {

constexpr std::size_t most_names = 12;

std::string us(Seconds time) { return significant(time / 1_us, 4); }

struct Sum {
  std::int64_t nodes{};
  Seconds time{};

  void add(const ChakraNode& node) {
    ++nodes;
    time += static_cast<double>(node.duration_us) * 1_us;
  }
};

std::string head(const OneChakra& one) {
  const ChakraTrace& trace = one.trace;
  std::string groups;
  for (std::size_t i = 0; i < std::min(trace.groups.size(), most_table_rows); ++i) {
    const ChakraGroup& group = trace.groups[i];
    groups += fmt::format("{}{} ({})", groups.empty() ? "; groups " : ", ", group.name,
                          counted(group.ranks, "rank"));
  }
  return fmt::format(
      "{}: schema {}, {} in {}, {}{}\n\n", trace.file,
      trace.version.empty() ? "not told" : trace.version, counted(trace.nodes.size(), "node"),
      to_text(static_cast<double>(trace.bytes) * 1_B), counted(one.steps, "step"), groups);
}

std::string types_table(const ChakraTrace& trace) {
  std::map<std::pair<ChakraNodeType, bool>, Sum> sums;
  for (const ChakraNode& node : trace.nodes) {
    sums[{node.type, work_of(node) == TraceWork::host}].add(node);
  }
  Table table({{"nodes", Align::left},
               {"on", Align::left},
               {"count", Align::right},
               {"time [ms]", Align::right}});
  for (const auto& [kind, sum] : sums) {
    table.add({std::string(name(kind.first)), kind.second ? "host" : "GPU",
               std::to_string(sum.nodes), milliseconds(sum.time)});
  }
  return table.markdown() + "\n";
}

// What takes longest of what the GPU computes, by name.
std::string names_table(const ChakraTrace& trace) {
  std::map<std::string, Sum> sums;
  for (const ChakraNode& node : trace.nodes) {
    if (work_of(node) == TraceWork::compute) {
      sums[node.name].add(node);
    }
  }
  std::vector<std::pair<std::string, Sum>> all(sums.begin(), sums.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.second.time > b.second.time; });
  if (all.empty()) {
    return "";
  }
  Table table({{"computes", Align::left}, {"count", Align::right}, {"time [ms]", Align::right}});
  for (std::size_t i = 0; i < std::min(all.size(), most_names); ++i) {
    table.add(
        {all[i].first, std::to_string(all[i].second.nodes), milliseconds(all[i].second.time)});
  }
  const std::string more =
      all.size() > most_names
          ? fmt::format("... and {} that take less.\n", counted(all.size() - most_names, "name"))
          : "";
  return table.markdown() + more + "\n";
}

std::string group_text(const OneChakra& one, const TraceMessages& messages) {
  const int ranks = told_ranks(one.trace, messages.group);
  return ranks > 0 ? fmt::format("{} ({})", messages.group, counted(ranks, "rank"))
                   : messages.group;
}

// Those that put in most, first.
std::vector<std::size_t> by_volume(const std::vector<TraceMessages>& messages) {
  std::vector<std::size_t> order(messages.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto volume = [&](std::size_t i) {
    return static_cast<double>(messages[i].bytes) * static_cast<double>(messages[i].nodes.size());
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return volume(a) > volume(b); });
  return order;
}

// A column for each number of nodes.
std::string messages_table(const OneChakra& one) {
  if (one.messages.empty()) {
    return "No node communicates.\n\n";
  }
  std::vector<Column> columns{{"communicates", Align::left},
                              {"group", Align::left},
                              {"puts in", Align::right},
                              {"calls", Align::right},
                              {"traced [us]", Align::right}};
  for (const ScaledTrace& scaled : one.scales) {
    columns.push_back({fmt::format("{} [us]", counted(scaled.ranks, "GPU")), Align::right});
  }
  const std::vector<std::size_t> order = by_volume(one.messages);
  Table table(std::move(columns));
  for (std::size_t row = 0; row < std::min(order.size(), most_table_rows); ++row) {
    const TraceMessages& each = one.messages[order[row]];
    std::vector<std::string> cells{std::string(kind_name(each)), group_text(one, each),
                                   to_text(static_cast<double>(each.bytes) * 1_B),
                                   std::to_string(each.nodes.size()),
                                   us(each.told / static_cast<double>(each.nodes.size()))};
    for (const ScaledTrace& scaled : one.scales) {
      const PricedMessages& priced = scaled.priced.messages[order[row]];
      cells.push_back(fmt::format("{} ({})", us(priced.price.time),
                                  priced.ranks.ranks == 1 ? "alone" : name(priced.role)));
    }
    table.add(std::move(cells));
  }
  return table.markdown() + left_out_rows(order.size(), "smaller rows") + "\n";
}

void add_step(Table& table, const std::string& title, const TraceTimes& times, int steps,
              const std::string& wall) {
  const double each = steps;
  table.add({title, wall, milliseconds(times.compute / each), milliseconds(times.hidden / each),
             milliseconds(times.exposed / each), milliseconds(times.idle / each)});
}

std::string steps_table(const OneChakra& one) {
  Table table({{"a step [ms]", Align::left},
               {"wall", Align::right},
               {"compute", Align::right},
               {"hidden comm", Align::right},
               {"exposed comm", Align::right},
               {"idle", Align::right}});
  const double steps = one.steps;
  if (tells_starts(one.trace)) {
    const TraceTimes told = told_times(one.trace);
    add_step(table, "as traced", told, one.steps, milliseconds(told.wall / steps));
  }
  add_step(table, "run again", one.replay.times, one.steps,
           milliseconds(one.replay.times.wall / steps));
  for (const ScaledTrace& scaled : one.scales) {
    const TraceReplay& again = scaled.priced.replay;
    add_step(table,
             fmt::format("{} ({})", counted(scaled.ranks, "GPU"), counted(scaled.nodes, "node")),
             again.times, one.steps,
             with_spread(again.times.wall / 1_ms / steps, scaled.priced.sd / 1_ms / steps));
    for (const CompressedScale& other : scaled.compressed) {
      const RepricedTrace& priced = other.priced;
      add_step(table,
               fmt::format("{}, {}: {} times as fast", counted(scaled.ranks, "GPU"), other.strategy,
                           fixed(again.times.wall / priced.replay.times.wall, 2)),
               priced.replay.times, one.steps,
               with_spread(priced.replay.times.wall / 1_ms / steps, priced.sd / 1_ms / steps));
    }
  }
  return table.markdown() + "\n";
}

std::string path_sentence(const OneChakra& one) {
  const TraceReplay& replay = one.replay;
  std::string parts;
  for (int i = 0; i < trace_work_count; ++i) {
    const Seconds time = replay.path_time.at(static_cast<std::size_t>(i));
    if (time > 0_s) {
      parts += fmt::format("{}{} {} ms", parts.empty() ? ": " : ", ",
                           name(static_cast<TraceWork>(i)), milliseconds(time));
    }
  }
  return fmt::format(
      "The critical path of the trace run again has {}{}. By dependencies alone, were there "
      "streams enough, the longest chain takes {} ms.\n",
      counted(replay.path.size(), "node"), parts, milliseconds(replay.chain));
}

std::string about(const OneChakra& one, const ChakraReport& report) {
  std::string text = path_sentence(one);
  if (!one.scales.empty()) {
    text += fmt::format(
        "Other numbers of GPUs are those of {}: what is computed takes as long as it was traced, "
        "and the batch grows with the data-parallel ranks; ± is one standard deviation of the "
        "collectives on the critical path.\n",
        report.cluster);
  }
  const std::string observed = chakra_observation(one);
  return text + (observed.empty()
                     ? "No node says when it began: the trace is no measurement of a step.\n"
                     : fmt::format("As a measurement: payoff predict EXPERIMENT --observed {}\n",
                                   observed));
}

}  // namespace

std::string chakra_text(const ChakraReport& report) {
  std::string text;
  for (const OneChakra& one : report.traces) {
    text += (text.empty() ? "" : "\n") + head(one) + types_table(one.trace) +
            names_table(one.trace) + messages_table(one) + steps_table(one) + about(one, report);
  }
  return text;
}

}  // namespace payoff
