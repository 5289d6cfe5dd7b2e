// SPDX-License-Identifier: Apache-2.0
#include "cli/collective_output.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/collective_text.hpp"
#include "cli/input_json.hpp"
#include "cli/profile_library.hpp"
#include "cli/table.hpp"

namespace payoff {
namespace {

// Of textbook_times().
constexpr std::array<std::string_view, 4> textbook_keys{"ring", "halving_doubling", "tree",
                                                        "two_level"};

std::vector<std::string> steps_csv(const CollectiveRow& row) {
  std::vector<std::string> cells(6);
  if (row.steps) {
    cells[0] = row.program;
    cells[4] = exact_number(row.steps->alpha_beta / 1_s);
    cells[5] = std::to_string(row.steps->sends);
  }
  if (row.steps && row.steps->priced) {
    cells[1] = exact_number(row.steps->priced->price / 1_s);
    cells[2] = exact_number(row.steps->priced->time / 1_s);
    cells[3] = exact_number(row.steps->priced->alone / 1_s);
  }
  return cells;
}

std::string csv_text(const CollectiveQuestion& question, const std::vector<CollectiveRow>& rows) {
  std::vector<std::string> header{"size_bytes",
                                  "time_seconds",
                                  "time_relative_sd",
                                  "algbw_bytes_per_second",
                                  "busbw_bytes_per_second",
                                  "algorithm",
                                  "protocol",
                                  "channels",
                                  "extrapolated"};
  for (const std::string_view key : textbook_keys) {
    if (question.textbook) {
      header.push_back(fmt::format("textbook_{}_seconds", key));
    }
  }
  if (question.topology) {
    header.insert(header.end(), {"program", "program_price_seconds", "steps_seconds",
                                 "steps_alone_seconds", "alpha_beta_seconds", "sends"});
  }
  std::string text = csv_line(header);
  for (const CollectiveRow& row : rows) {
    std::vector<std::string> cells{exact_number(row.size / 1_B),
                                   exact_number(row.price.time / 1_s),
                                   exact_number(row.price.relative_sd),
                                   exact_number(row.algbw.si),
                                   exact_number(row.busbw.si),
                                   std::string(name(row.price.algorithm)),
                                   std::string(name(row.price.protocol)),
                                   std::to_string(row.price.channels),
                                   row.price.extrapolated ? "true" : "false"};
    for (const Seconds textbook : textbook_times(row)) {
      cells.push_back(exact_number(textbook / 1_s));
    }
    if (question.topology) {
      const std::vector<std::string> more = steps_csv(row);
      cells.insert(cells.end(), more.begin(), more.end());
    }
    text += csv_line(cells);
  }
  return text;
}

nlohmann::ordered_json steps_json(const CollectiveRow& row) {
  if (!row.steps) {
    return nullptr;
  }
  nlohmann::ordered_json json{{"program", row.program}};
  const auto add = [&](const char* key, Seconds sim::CollectiveSteps::Priced::*time) {
    json[key] = row.steps->priced ? nlohmann::ordered_json((*row.steps->priced.*time).si) : nullptr;
  };
  add("price_seconds", &sim::CollectiveSteps::Priced::price);
  add("time_seconds", &sim::CollectiveSteps::Priced::time);
  add("alone_seconds", &sim::CollectiveSteps::Priced::alone);
  const auto sd = row.steps->priced ? row.steps->priced->assumed_sd : std::nullopt;
  json["price_assumed_sd"] = sd ? nlohmann::ordered_json(*sd) : nullptr;
  json["alpha_beta_seconds"] = row.steps->alpha_beta.si;
  json["sends"] = row.steps->sends;
  return json;
}

std::string json_text(const CollectiveQuestion& question, const std::vector<CollectiveRow>& rows,
                      const Session& session) {
  nlohmann::ordered_json json = json_envelope("collective", session);
  json["profiles"] = profiles_json(find_library(), session.sources());
  json["collective"] = name(question.collective);
  json["cluster"] = question.cluster.name;
  json["ranks"] = question.group.ranks;
  json["ranks_per_node"] = question.group.ranks_per_node;
  json["nodes"] = question.group.nodes();
  json["rivals"] = question.group.rivals;
  json["measured"] = nullptr;
  if (const FitDomain domain = measured_on(question); domain.ranks > 0) {
    json["measured"] = {{"smallest_bytes", domain.smallest.si},
                        {"largest_bytes", domain.largest.si},
                        {"most_ranks", domain.ranks}};
  }
  json["rows"] = nlohmann::ordered_json::array();
  for (const CollectiveRow& row : rows) {
    json["rows"].push_back({{"size_bytes", row.size.si},
                            {"time_seconds", row.price.time.si},
                            {"time_relative_sd", row.price.relative_sd},
                            {"least_seconds", row.price.least.si},
                            {"latency_seconds", row.price.latency.si},
                            {"algbw_bytes_per_second", row.algbw.si},
                            {"busbw_bytes_per_second", row.busbw.si},
                            {"algorithm", name(row.price.algorithm)},
                            {"protocol", name(row.price.protocol)},
                            {"channels", row.price.channels},
                            {"extrapolated", row.price.extrapolated}});
    const std::vector<Seconds> times = textbook_times(row);
    for (std::size_t i = 0; i < times.size(); ++i) {
      json["rows"].back()[fmt::format("textbook_{}_seconds", textbook_keys[i])] = times[i].si;
    }
    if (question.topology) {
      json["rows"].back()["steps"] = steps_json(row);
    }
  }
  return json.dump(2) + "\n";
}

}  // namespace

Rendering render_collective(const CollectiveQuestion& question,
                            const std::vector<CollectiveRow>& rows, const Session& session) {
  return {collective_text(question, rows), json_text(question, rows, session),
          csv_text(question, rows)};
}

}  // namespace payoff
