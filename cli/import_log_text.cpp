// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/counted.hpp"
#include "cli/import_parts.hpp"
#include "cli/import_report.hpp"
#include "cli/table.hpp"
#include "model/units_text.hpp"

namespace payoff {
namespace {

using Json = nlohmann::ordered_json;

// "0-7", "0, 8, 16, 24", "0, 8, ..., 120".
std::string ranks_text(const std::vector<int>& ranks) {
  if (ranks.empty()) {
    return "not told";
  }
  const bool is_run =
      ranks.size() > 2 && ranks.back() - ranks.front() + 1 == static_cast<int>(ranks.size());
  if (is_run) {
    return fmt::format("{}-{}", ranks.front(), ranks.back());
  }
  constexpr std::size_t few = 8;
  std::string text;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const bool is_skipped = ranks.size() > few && i >= 3 && i + 1 < ranks.size();
    if (!is_skipped) {
      text += fmt::format("{}{}", i == 0 ? "" : ", ", ranks[i]);
    } else if (i == 3) {
      text += ", ...";
    }
  }
  return text;
}

std::string known_or(int number, const char* otherwise) {
  return number > 0 ? std::to_string(number) : otherwise;
}

std::string head(const LogReport& report) {
  const NcclDebugLog& log = report.log;
  const std::string version = log.version.empty() ? "" : "NCCL " + log.version + ", ";
  const std::string ranks = counted(log.ranks, "rank");
  const std::string calls = counted(log.calls, "call");
  const std::string files = counted(report.files.size(), "file");
  if (log.nodes.empty()) {  // nothing is told of them, and the log is none of lines
    return fmt::format("{}{}, {} in {}\n\n", version, ranks, calls, files);
  }
  return fmt::format("{}{} on {}, {} in {} of {}\n\n", version, ranks,
                     counted(log.nodes.size(), "node"), calls, files, counted(log.lines, "line"));
}

std::string nodes_table(const NcclDebugLog& log) {
  if (log.nodes.empty()) {
    return "";
  }
  Table table({{"node", Align::left}, {"GPUs", Align::right}, {"ranks", Align::left}});
  for (std::size_t i = 0; i < std::min(log.nodes.size(), most_table_rows); ++i) {
    const LoggedNode& node = log.nodes[i];
    table.add({node.host, std::to_string(node.gpus), ranks_text(node.ranks)});
  }
  return table.markdown() + left_out_rows(log.nodes.size(), "more nodes") + "\n";
}

std::string groups_table(const NcclDebugLog& log) {
  Table table({{"groups", Align::right},
               {"ranks", Align::right},
               {"nodes", Align::right},
               {"the first one", Align::left},
               {"in the log", Align::right}});
  for (const LoggedGroups& each : log.groups) {
    table.add(
        {std::to_string(each.groups), std::to_string(each.ranks), known_or(each.nodes, "not told"),
         ranks_text(each.example),
         fmt::format("{} of {}", each.communicators, std::int64_t{each.groups} * each.ranks)});
  }
  return table.markdown() + "\n";
}

// What a rank sends in such messages, over the time that is asked for.
Bytes volume(const LoggedMessages& message) { return message.size * message.calls_a_rank; }

std::vector<const LoggedMessages*> by_volume(const NcclDebugLog& log) {
  std::vector<const LoggedMessages*> messages;
  messages.reserve(log.messages.size());
  for (const LoggedMessages& message : log.messages) {
    messages.push_back(&message);
  }
  std::stable_sort(
      messages.begin(), messages.end(),
      [](const LoggedMessages* a, const LoggedMessages* b) { return volume(*a) > volume(*b); });
  return messages;
}

std::string messages_table(const LogReport& report) {
  const double steps = report.steps.value_or(1);
  const std::vector<const LoggedMessages*> messages = by_volume(report.log);
  const Bytes all = std::accumulate(
      messages.begin(), messages.end(), Bytes{},
      [](Bytes sum, const LoggedMessages* message) { return sum + volume(*message); });
  const std::string each = report.steps ? " a step" : "";
  Table table({{"collective", Align::left},
               {"ranks", Align::right},
               {"nodes", Align::right},
               {"type", Align::left},
               {"size", Align::right},
               {"calls" + each, Align::right},
               {"bytes" + each, Align::right},
               {"share", Align::right}});
  for (std::size_t i = 0; i < std::min(messages.size(), most_table_rows); ++i) {
    const LoggedMessages& message = *messages[i];
    const LoggedGroups& groups = report.log.groups[message.groups];
    table.add({std::string(name(message.collective)), std::to_string(groups.ranks),
               known_or(groups.nodes, "not told"), message.type, to_text(message.size),
               significant(message.calls_a_rank / steps), to_text(volume(message) / steps),
               all > Bytes{} ? percent_text(volume(message) / all) : "0 %"});
  }
  return table.markdown() +
         left_out_rows(messages.size(), "smaller rows", "-o FILE.csv or --json") + "\n";
}

std::string connections_sentence(const NcclDebugLog& log) {
  std::string text;
  for (const auto& [transport, count] : log.connections) {
    text += fmt::format("{}{} {}", text.empty() ? "Connections: " : ", ", count, transport);
  }
  if (log.channels > 0) {
    text += fmt::format("{}{} for collectives", text.empty() ? "" : "; ",
                        counted(log.channels, "channel"));
  }
  return text.empty() ? "" : text + ".\n";
}

std::string no_call_sentence(const LogReport& report) {
  return report.log.nodes.empty() ? "No call was recorded.\n"
                                  : "No call: NCCL_DEBUG_SUBSYS has to name COLL.\n";
}

}  // namespace

std::string log_text(const LogReport& report) {
  const std::string rule =
      "Calls and bytes are those of one rank; sizes are counted as nccl-tests does: the gathered "
      "buffer of all_gather, the whole buffer of a rank of reduce_scatter and all_to_all.\n";
  return head(report) + nodes_table(report.log) + groups_table(report.log) +
         (report.log.messages.empty() ? no_call_sentence(report) : messages_table(report) + rule) +
         connections_sentence(report.log);
}

std::string log_csv(const LogReport& report) {
  std::string text = "collective,ranks,nodes,stride,groups,type,bytes,calls,calls_a_rank\n";
  for (const LoggedMessages& message : report.log.messages) {
    const LoggedGroups& groups = report.log.groups[message.groups];
    text += csv_line({std::string(name(message.collective)), std::to_string(groups.ranks),
                      groups.nodes > 0 ? std::to_string(groups.nodes) : "",
                      groups.stride > 0 ? std::to_string(groups.stride) : "",
                      std::to_string(groups.groups), message.type, exact_number(message.size / 1_B),
                      std::to_string(message.calls), exact_number(message.calls_a_rank)});
  }
  return text;
}

void add_log_json(const LogReport& report, nlohmann::ordered_json& json) {
  const NcclDebugLog& log = report.log;
  json["format"] = report.format;
  json["files"] = report.files;
  json["nccl_version"] = log.version;
  json["ranks"] = log.ranks;
  json["lines"] = log.lines;
  json["calls"] = log.calls;
  json["channels"] = log.channels;
  json["nodes"] = Json::array();
  for (const LoggedNode& node : log.nodes) {
    json["nodes"].push_back({{"host", node.host}, {"gpus", node.gpus}, {"ranks", node.ranks}});
  }
  json["groups"] = Json::array();
  for (const LoggedGroups& each : log.groups) {
    json["groups"].push_back({{"groups", each.groups},
                              {"ranks", each.ranks},
                              {"nodes", each.nodes > 0 ? Json(each.nodes) : Json(nullptr)},
                              {"stride", each.stride > 0 ? Json(each.stride) : Json(nullptr)},
                              {"first", each.example},
                              {"communicators", each.communicators}});
  }
  json["messages"] = Json::array();
  for (const LoggedMessages& message : log.messages) {
    json["messages"].push_back({{"collective", name(message.collective)},
                                {"group", message.groups},
                                {"ranks", log.groups[message.groups].ranks},
                                {"type", message.type},
                                {"size_bytes", message.size.si},
                                {"calls", message.calls},
                                {"calls_a_rank", message.calls_a_rank}});
  }
  json["connections"] = Json::array();
  for (const auto& [transport, count] : log.connections) {
    json["connections"].push_back({{"transport", transport}, {"count", count}});
  }
}

}  // namespace payoff
