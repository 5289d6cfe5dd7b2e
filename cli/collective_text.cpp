// SPDX-License-Identifier: Apache-2.0
#include "cli/collective_text.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "cli/counted.hpp"
#include "cli/table.hpp"
#include "model/group_paths.hpp"
#include "model/units_text.hpp"

namespace payoff {
namespace {

std::string headline(const CollectiveQuestion& question) {
  const Cluster& cluster = question.cluster;
  const Group& group = question.group;
  std::string line =
      fmt::format("{} · {} · {} on {} of {} {}", name(question.collective), cluster.name,
                  counted(group.ranks, "rank"), counted(group.nodes(), "node"),
                  cluster.gpus_per_node, cluster.gpu.name);
  line += " · " + cluster.fabric.name;
  if (group.nodes() > 1) {
    line += fmt::format(" · {} x {} {}", cluster.nics_per_node, link_rate_text(cluster.nic),
                        cluster.network.name);
  }
  return line;
}

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

}  // namespace

std::vector<Seconds> textbook_times(const CollectiveRow& row) {
  if (!row.textbook) {
    return {};
  }
  return {row.textbook->ring, row.textbook->halving_doubling, row.textbook->tree,
          row.textbook->two_level};
}

FitDomain measured_on(const CollectiveQuestion& question) {
  return CollectiveModel(question.cluster, question.group).domain();
}

std::string collective_text(const CollectiveQuestion& question,
                            const std::vector<CollectiveRow>& rows) {
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

}  // namespace payoff
