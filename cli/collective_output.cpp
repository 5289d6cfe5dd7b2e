// SPDX-License-Identifier: Apache-2.0
#include "cli/collective_output.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/input_json.hpp"
#include "cli/profile_library.hpp"
#include "cli/table.hpp"
#include "model/group_paths.hpp"
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

// In the order of textbook_keys; none where they were not asked for.
std::vector<Seconds> textbook_times(const CollectiveRow& row) {
  if (!row.textbook) {
    return {};
  }
  return {row.textbook->ring, row.textbook->halving_doubling, row.textbook->tree,
          row.textbook->two_level};
}

constexpr std::array<std::string_view, 4> textbook_keys{"ring", "halving_doubling", "tree",
                                                        "two_level"};

std::vector<Column> columns(const CollectiveQuestion& question) {
  std::vector<Column> columns{{"size", Align::right},         {"time [us]", Align::right},
                              {"algbw [GB/s]", Align::right}, {"busbw [GB/s]", Align::right},
                              {"algorithm", Align::left},     {"protocol", Align::left},
                              {"channels", Align::right},     {"", Align::left}};
  if (question.textbook) {
    columns.insert(columns.end(), {{"α-β: ring [us]", Align::right},
                                   {"halving-doubling", Align::right},
                                   {"tree", Align::right},
                                   {"two levels", Align::right}});
  }
  if (question.topology) {
    columns.insert(columns.end(), {{"program", Align::left},
                                   {"steps [us]", Align::right},
                                   {"of price", Align::right},
                                   {"α-β [us]", Align::right},
                                   {"sends", Align::right}});
  }
  return columns;
}

// At level `steps`.
std::vector<std::string> steps_cells(const CollectiveRow& row) {
  if (!row.steps) {
    return {row.no_steps, "", "", "", ""};
  }
  const sim::CollectiveSteps& steps = *row.steps;
  std::vector<std::string> cells{row.program, "", "", significant(steps.alpha_beta / 1_us),
                                 std::to_string(steps.sends)};
  if (steps.priced) {
    cells[1] = significant(steps.priced->time / 1_us);
    cells[2] = fmt::format("{:.4g} %", 100 * (steps.priced->time / steps.priced->price));
  }
  return cells;
}

// Where rings stand in for a program: the widest of what its prices may be off.
std::optional<double> assumed_sd(const std::vector<CollectiveRow>& rows) {
  std::optional<double> widest;
  for (const CollectiveRow& row : rows) {
    if (row.steps && row.steps->priced && row.steps->priced->assumed_sd) {
      widest = std::max(widest.value_or(0), *row.steps->priced->assumed_sd);
    }
  }
  return widest;
}

// The price is NCCL's but for programs that NCCL does not have.
std::string steps_text(const CollectiveQuestion& question, const std::vector<CollectiveRow>& rows) {
  const bool priced =
      !question.program || std::any_of(rows.begin(), rows.end(), [](const CollectiveRow& row) {
        return row.steps && row.steps->priced;
      });
  std::string text = priced ? "steps: every send on its links, with its part of the price; α-β: "
                              "nominal links, one latency a step.\n"
                            : "α-β: every send on nominal links, one latency a step.\n";
  if (has_background(*question.topology)) {
    text += priced ? "Both have of the links what background traffic leaves.\n"
                   : "The links have what background traffic leaves of them.\n";
  }
  if (!question.program) {
    return text;
  }
  if (priced && question.program == sim::OtherProgram::gossip) {
    return text +
           "The law prices what the busiest rank sends, inside its server or out of it; "
           "nobody has measured the whole.\n";
  }
  if (const auto sd = assumed_sd(rows)) {
    return text + fmt::format(
                      "The price is assumed, as nobody has published measurements of this program: "
                      "its own steps and bytes at what NCCL's rings achieve on such links; one "
                      "standard deviation is {:.0f} % or less.\n",
                      100 * *sd);
  }
  return text + (priced ? "Its phases are priced by the law one after the other, as collectives of "
                          "their own; nobody has measured the whole.\n"
                        : "Nobody has measured this program: there is no law to price its steps "
                          "with. The time is that of NCCL's own choice.\n");
}

FitDomain measured_on(const CollectiveQuestion& question) {
  return CollectiveModel(question.cluster, question.group).domain();
}

std::string extrapolation_text(const CollectiveQuestion& question, std::size_t outside,
                               std::size_t rows) {
  const FitDomain domain = measured_on(question);
  const bool network = paths_of(question.cluster, question.group).domains > 1;
  const std::string& link = network ? question.cluster.network.name : question.cluster.fabric.name;
  const std::string measured =
      domain.ranks == 0
          ? fmt::format("the fit has no measurement of {}", link)
          : fmt::format("measured over {}: {} to {}, up to {} ranks", link,
                        exact_text(domain.smallest), exact_text(domain.largest), domain.ranks);
  return fmt::format("{} of {} rows are extrapolated; {}.\n", outside, rows, measured);
}

// As nccl-tests prints it where no unit makes it short: 1048584 B.
std::string size_text(Bytes size) {
  const std::string text = exact_text(size);
  return text.find('.') == std::string::npos ? text : fmt::format("{:.10g} B", size / 1_B);
}

std::string table_text(const CollectiveQuestion& question, const std::vector<CollectiveRow>& rows) {
  if (question.group.ranks == 1) {
    return headline(question) + "\n\nOne GPU has nobody to talk to: nothing is sent.\n";
  }
  Table table(columns(question));
  std::size_t outside = 0;
  for (const CollectiveRow& row : rows) {
    const double time = row.price.time / 1_us;
    std::vector<std::string> cells{size_text(row.size),
                                   with_spread(time, time * row.price.relative_sd),
                                   significant(row.algbw / 1_GBps),
                                   significant(row.busbw / 1_GBps),
                                   std::string(name(row.price.algorithm)),
                                   std::string(name(row.price.protocol)),
                                   std::to_string(row.price.channels),
                                   row.price.extrapolated ? "extrapolated" : ""};
    for (const Seconds textbook : textbook_times(row)) {
      cells.push_back(significant(textbook / 1_us));
    }
    if (question.topology) {
      const std::vector<std::string> more = steps_cells(row);
      cells.insert(cells.end(), more.begin(), more.end());
    }
    table.add(cells);
    outside += row.price.extrapolated ? 1 : 0;
  }
  std::string text = headline(question) + "\n\n" + table.markdown() + "\n";
  text += "Sizes and busbw as in nccl-tests; ± is one standard deviation of the fitted law.\n";
  if (question.textbook) {
    text += "α-β: a textbook's prices, no predictions: nominal bandwidth, nothing fitted but α.\n";
  }
  if (question.topology) {
    text += steps_text(question, rows);
  }
  if (outside > 0) {
    text += extrapolation_text(question, outside, rows.size());
  }
  return text;
}

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
  return {table_text(question, rows), json_text(question, rows, session), csv_text(question, rows)};
}

}  // namespace payoff
