// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/break_even_text.hpp"
#include "cli/experiment_input.hpp"
#include "cli/layout_text.hpp"
#include "cli/names.hpp"
#include "cli/network_worth_text.hpp"
#include "cli/observed_text.hpp"
#include "cli/prediction_report.hpp"
#include "cli/table.hpp"
#include "cli/verdict_text.hpp"
#include "model/node_kinds.hpp"
#include "model/units_text.hpp"
#include "study/observed.hpp"

namespace payoff {
namespace {

// Columns that only some jobs have.
struct OptionalColumns {
  bool bubble{};
  bool overheads{};
};

std::vector<Column> columns(const Payoff& payoff, const OptionalColumns& optional) {
  std::vector<Column> columns{{"strategy", Align::left},
                              {"step", Align::right},
                              {"compute", Align::right},
                              {"codec", Align::right},
                              {"exposed comm", Align::right}};
  if (optional.bubble) {
    columns.push_back({"bubble", Align::right});
  }
  if (optional.overheads) {
    columns.push_back({"overheads", Align::right});
  }
  columns.push_back({"speedup", Align::right});
  if (payoff.sixteen_bit) {
    columns.push_back({"vs 16-bit", Align::right});
  }
  columns.push_back({"vs best remedy", Align::right});
  columns.push_back({"fits", Align::center});
  columns.push_back({"verdict", Align::left});
  return columns;
}

std::vector<std::string> row(const PlanPayoff& plan, const Payoff& payoff,
                             const OptionalColumns& optional) {
  const bool first = &plan == &payoff.plans.front();
  const auto ms = [](Seconds time) { return fixed(time / 1_ms, 1); };
  const Shares shares = shares_of(plan.prediction.waterfall);
  std::vector<std::string> row{first ? "uncompressed" : plan.label, step_text(plan),
                               ms(shares.compute), ms(shares.codec), ms(shares.exposed)};
  if (optional.bubble) {
    row.push_back(ms(shares.bubble));
  }
  if (optional.overheads) {
    row.push_back(ms(shares.overheads));
  }
  row.push_back(first ? "1.00" : speedup_text(plan.against_uncompressed));
  if (payoff.sixteen_bit) {
    row.push_back(speedup_text(*plan.against_sixteen_bit));
  }
  row.push_back(speedup_text(plan.against_remedy));
  row.emplace_back(plan.prediction.memory.fits() ? "yes" : "no");
  row.push_back(first ? "" : verdict_word(Payoff::verdict_of(plan)));
  return row;
}

std::string table_text(const Payoff& payoff) {
  OptionalColumns optional;
  for (const PlanPayoff& plan : payoff.plans) {
    const Shares shares = shares_of(plan.prediction.waterfall);
    optional.bubble = optional.bubble || shares.bubble > 0_s;
    optional.overheads = optional.overheads || shares.overheads > 0_s;
  }
  Table table(columns(payoff, optional));
  for (const PlanPayoff& plan : payoff.plans) {
    table.add(row(plan, payoff, optional));
  }
  return table.markdown();
}

// Beside the verdict: a warning elsewhere is lost in a pipe.
std::string default_batch_sentence(const PredictionReport& report) {
  if (!has_default_batch(report.read)) {
    return {};
  }
  return "No micro-batch was given: one sample a GPU at a time computes little, and flatters "
         "compression.";
}

std::string paragraph(const std::string& sentence) {
  return sentence.empty() ? "" : sentence + "\n";
}

}  // namespace

Shares shares_of(const Waterfall& waterfall) {
  return {waterfall.forward + waterfall.recompute + waterfall.backward + waterfall.interference +
              waterfall.bucket_copy + waterfall.optimizer + waterfall.host,
          waterfall.encode + waterfall.decode, exposed_communication(waterfall), waterfall.bubble,
          waterfall.host_jitter + waterfall.data_stall + waterfall.checkpoint};
}

std::vector<std::vector<Obstacle>> obstacles_of(const ReadExperiment& read) {
  std::vector<std::vector<Obstacle>> all;
  all.reserve(read.notes.size());
  for (const MethodNotes& notes : read.notes) {
    all.push_back(obstacles(notes, read.experiment.layout));
  }
  all.front().clear();  // the job as given
  return all;
}

std::string nearest_sentence(const PredictionReport& report) {
  if (report.payoff.plans.front().prediction.memory.fits()) {
    return {};
  }
  if (!report.nearest) {
    return "No other tp, pp, zero, recomputation or micro-batch makes it fit on these GPUs.\n";
  }
  return fmt::format(
      "Nearest layout that fits, with the same batch: {} ({} of {}, {} a step "
      "uncompressed).\n",
      report.nearest->changes, to_text(report.nearest->memory.total()),
      to_text(report.nearest->memory.capacity), to_text(report.nearest->step));
}

std::string experiment_headline(const Experiment& experiment) {
  std::string text;
  for (const Cluster& nodes : each_kind(experiment.cluster)) {
    text += fmt::format("{}{} x {} ({} {}", text.empty() ? "" : " + ", nodes.nodes, nodes.name,
                        nodes.gpus_per_node, nodes.gpu.name);
    if (nodes.nics_per_node > 0) {
      text += fmt::format(", {} x {} {}", nodes.nics_per_node, link_rate_text(nodes.nic),
                          nodes.network.name);
    }
    text += ")";
  }
  text =
      fmt::format("{} · {} · {}", name_of(experiment.model), text, layout_words(experiment.layout));
  text +=
      fmt::format(" · {}, {} gradients, {} buckets", name_of(experiment.training.precision),
                  name_of(experiment.training.gradient), exact_text(experiment.training.bucket));
  return text + (experiment.training.overlap ? "" : ", no overlap");
}

std::string prediction_text(const PredictionReport& report) {
  const Payoff& payoff = report.payoff;
  std::string text =
      experiment_headline(report.read.experiment) + "\n\n" + table_text(payoff) + "\n";
  text += fmt::format(
      "Parts of a step in ms; (low to high) holds 90 % of the draws; the verdict is against the "
      "best remedy, and within {} there is no difference.\n",
      percent_text(report.options.band));
  text +=
      paragraph(training_text(report.read.experiment, payoff, report.training, report.read.facts));
  text += paragraph(remedy_sentence(payoff));
  text += paragraph(observed_sentence(payoff)) + observed_tables(payoff);
  text += paragraph(deciding_sentence(payoff));
  if (!report.break_evens.empty()) {
    text += "\n" + break_even_table(report.break_evens, payoff);
  }
  text += paragraph(useful_bandwidth_sentence(report.break_evens, report.read.experiment));
  text += network_worth_text(report);
  text += engines_text(report.engines, report.prepared);
  text += paragraph(trust_text(report.trust));
  text += "\n" + paragraph(default_batch_sentence(report));
  text += nearest_sentence(report);
  return text + verdict_sentence(payoff, report.break_evens) +
         obstacle_clause(payoff, report.obstacles) + "\n";
}

}  // namespace payoff
