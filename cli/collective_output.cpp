// SPDX-License-Identifier: Apache-2.0
#include "cli/collective_output.hpp"

#include <cstddef>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/table.hpp"
#include "model/units_text.hpp"

namespace payoff {
namespace {

std::string headline(const CollectiveQuestion& question) {
  const Cluster& cluster = question.cluster;
  const Group& group = question.group;
  std::string line =
      fmt::format("{} · {} · {} rank{} on {} node{} of {} {}", name(question.collective),
                  cluster.name, group.ranks, group.ranks == 1 ? "" : "s", group.nodes(),
                  group.nodes() == 1 ? "" : "s", cluster.gpus_per_node, cluster.gpu.name);
  line += " · " + cluster.fabric.name;
  if (group.nodes() > 1) {
    line += fmt::format(" · {} x {} {}", cluster.nics_per_node, link_rate_text(cluster.nic),
                        cluster.network.name);
  }
  return line;
}

std::string table_text(const CollectiveQuestion& question, const std::vector<CollectiveRow>& rows) {
  if (question.group.ranks == 1) {
    return headline(question) + "\n\nOne GPU has nobody to talk to: nothing is sent.\n";
  }
  Table table({{"size", Align::right},
               {"time [us]", Align::right},
               {"algbw [GB/s]", Align::right},
               {"busbw [GB/s]", Align::right},
               {"algorithm", Align::left},
               {"protocol", Align::left},
               {"channels", Align::right},
               {"", Align::left}});
  std::size_t outside = 0;
  for (const CollectiveRow& row : rows) {
    const double time = row.price.time / 1_us;
    table.add({exact_text(row.size), with_spread(time, time * row.price.relative_sd),
               significant(row.algbw / 1_GBps), significant(row.busbw / 1_GBps),
               std::string(name(row.price.algorithm)), std::string(name(row.price.protocol)),
               std::to_string(row.price.channels), row.price.extrapolated ? "extrapolated" : ""});
    outside += row.price.extrapolated ? 1 : 0;
  }
  std::string text = headline(question) + "\n\n" + table.markdown() + "\n";
  text += "Sizes and busbw as in nccl-tests; ± is one standard deviation of the fitted law.\n";
  if (outside > 0) {
    text += fmt::format("{} of {} rows are extrapolated beyond the measurements of the fit.\n",
                        outside, rows.size());
  }
  return text;
}

std::string csv_text(const std::vector<CollectiveRow>& rows) {
  std::string text =
      csv_line({"size_bytes", "time_seconds", "time_relative_sd", "algbw_bytes_per_second",
                "busbw_bytes_per_second", "algorithm", "protocol", "channels", "extrapolated"});
  for (const CollectiveRow& row : rows) {
    text += csv_line({exact_number(row.size / 1_B), exact_number(row.price.time / 1_s),
                      exact_number(row.price.relative_sd), exact_number(row.algbw.si),
                      exact_number(row.busbw.si), std::string(name(row.price.algorithm)),
                      std::string(name(row.price.protocol)), std::to_string(row.price.channels),
                      row.price.extrapolated ? "true" : "false"});
  }
  return text;
}

std::string json_text(const CollectiveQuestion& question, const std::vector<CollectiveRow>& rows,
                      const Session& session) {
  nlohmann::ordered_json json = json_envelope("collective", session);
  json["collective"] = name(question.collective);
  json["cluster"] = question.cluster.name;
  json["ranks"] = question.group.ranks;
  json["ranks_per_node"] = question.group.ranks_per_node;
  json["nodes"] = question.group.nodes();
  json["rivals"] = question.group.rivals;
  json["rows"] = nlohmann::ordered_json::array();
  for (const CollectiveRow& row : rows) {
    json["rows"].push_back({{"size_bytes", row.size.si},
                            {"time_seconds", row.price.time.si},
                            {"time_relative_sd", row.price.relative_sd},
                            {"latency_seconds", row.price.latency.si},
                            {"algbw_bytes_per_second", row.algbw.si},
                            {"busbw_bytes_per_second", row.busbw.si},
                            {"algorithm", name(row.price.algorithm)},
                            {"protocol", name(row.price.protocol)},
                            {"channels", row.price.channels},
                            {"extrapolated", row.price.extrapolated}});
  }
  return json.dump(2) + "\n";
}

}  // namespace

Rendering render_collective(const CollectiveQuestion& question,
                            const std::vector<CollectiveRow>& rows, const Session& session) {
  return {table_text(question, rows), json_text(question, rows, session), csv_text(rows)};
}

}  // namespace payoff
