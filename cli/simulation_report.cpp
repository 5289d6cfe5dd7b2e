// SPDX-License-Identifier: Apache-2.0
#include "cli/simulation_report.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "cli/names.hpp"
#include "cli/prediction_report.hpp"
#include "cli/table.hpp"
#include "model/units_text.hpp"

namespace payoff {
namespace {

std::string ms(Seconds time) { return fixed(time / 1_ms, 2); }

std::string steps_table(const SimulationReport& report) {
  const bool overheads =
      std::any_of(report.plans.begin(), report.plans.end(), [](const PlanSimulation& plan) {
        return shares_of(plan.simulated.prediction.waterfall).overheads > 0_s;
      });
  std::vector<Column> columns{{"strategy", Align::left},         {"simulated [ms]", Align::right},
                              {"analytical [ms]", Align::right}, {"difference", Align::right},
                              {"compute", Align::right},         {"codec", Align::right},
                              {"exposed comm", Align::right},    {"bubble", Align::right}};
  if (overheads) {
    columns.push_back({"overheads", Align::right});
  }
  columns.push_back({"fits", Align::center});
  columns.push_back({report.steps ? "events (sends)" : "events", Align::right});
  Table table(columns);
  for (const PlanSimulation& plan : report.plans) {
    const StepPrediction& step = plan.simulated.prediction;
    const Shares shares = shares_of(step.waterfall);
    const bool whole = !plan.simulated.interrupted;
    std::vector<std::string> row{
        strategy_name(plan.label),
        (whole ? "" : "> ") + ms(step.step),
        ms(plan.analytical.step),
        whole ? fmt::format("{:+.2f} %", 100 * (step.step / plan.analytical.step - 1)) : "",
        ms(shares.compute),
        ms(shares.codec),
        ms(shares.exposed),
        ms(shares.bubble)};
    if (overheads) {
      row.push_back(ms(shares.overheads));
    }
    row.emplace_back(step.memory.fits() ? "yes" : "no");
    row.push_back(std::to_string(plan.simulated.events) +
                  (report.steps ? fmt::format(" ({})", plan.simulated.sends) : ""));
    table.add(std::move(row));
  }
  return table.markdown();
}

// Causes by their share of the path, largest first.
std::string path_sentence(const PlanSimulation& plan) {
  std::vector<std::pair<double, std::string>> causes;
  for (std::size_t c = 0; c < sim::cause_count; ++c) {
    const double share = plan.simulated.critical_path[c] / plan.simulated.prediction.step;
    if (share >= 0.0005) {
      causes.emplace_back(share, name(static_cast<sim::Cause>(c)));
    }
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text = "Critical path, " + strategy_name(plan.label) + ":";
  for (const auto& [share, cause] : causes) {
    text +=
        fmt::format("{} {} {}", &cause == &causes.front().second ? "" : ",", cause, percent(share));
  }
  return text + "\n";
}

// Where work that uses a GPU's memory made a message latest.
std::string memory_sentence(const PlanSimulation& plan) {
  const std::vector<Seconds>& delays = plan.simulated.max_memory_delay;
  const auto most = std::max_element(delays.begin(), delays.end());
  if (most == delays.end() || *most < 5_us) {
    return "";
  }
  return fmt::format(
      "Memory of the GPU of stage {}: messages up to {} ms late beside work that uses it, {}.\n",
      most - delays.begin(), ms(*most), strategy_name(plan.label));
}

std::string traffic_table(const SimulationReport& report) {
  std::vector<Column> columns{{"strategy", Align::left},    {"traffic", Align::left},
                              {"of one GPU", Align::right}, {"in flight [ms]", Align::right},
                              {"hidden", Align::right},     {"exposed", Align::right}};
  const auto of_plan = [](const PlanSimulation& plan) {
    return plan.simulated.dp.waiting + plan.simulated.tp.waiting + plan.simulated.cp.waiting +
           plan.simulated.ep.waiting;
  };
  const bool waits = std::any_of(report.plans.begin(), report.plans.end(),
                                 [&](const PlanSimulation& plan) { return of_plan(plan) > 5_us; });
  if (waits) {
    columns.push_back({"of it waiting for others", Align::right});
  }
  Table table(columns);
  for (const PlanSimulation& plan : report.plans) {
    const std::pair<const char*, const sim::TrafficTime*> kinds[] = {{"dp", &plan.simulated.dp},
                                                                     {"tp", &plan.simulated.tp},
                                                                     {"cp", &plan.simulated.cp},
                                                                     {"ep", &plan.simulated.ep},
                                                                     {"pp", &plan.simulated.pp}};
    for (const auto& [name, traffic] : kinds) {
      if (traffic->busy > 0_s) {
        std::vector<std::string> row{strategy_name(plan.label), name,
                                     to_text(traffic->bytes),   ms(traffic->busy),
                                     ms(traffic->hidden()),     ms(traffic->exposed)};
        if (waits) {
          row.push_back(ms(traffic->waiting));
        }
        table.add(std::move(row));
      }
    }
  }
  return table.empty() ? "" : fmt::format("\n{}", table.markdown());
}

// A link in all plans that have it: where traffic differs, links fold in other ways.
struct LinkRow {
  const sim::LinkUse* first{};
  std::vector<const sim::LinkUse*> of_plan;  // nullptr where the plan has no such link
  double utilization{};                      // the largest
  Seconds delay;
};

std::vector<LinkRow> rows_of(const SimulationReport& report) {
  std::vector<LinkRow> rows;
  std::map<std::string, std::size_t> by_name;
  for (std::size_t plan = 0; plan < report.plans.size(); ++plan) {
    for (const sim::LinkUse& link : report.plans[plan].simulated.links) {
      const auto [found, is_new] = by_name.emplace(link.name, rows.size());
      if (is_new) {
        rows.push_back({&link, std::vector<const sim::LinkUse*>(report.plans.size()), 0, {}});
      }
      LinkRow& row = rows[found->second];
      row.of_plan[plan] = &link;
      row.utilization = std::max(row.utilization, link.utilization);
      row.delay = std::max(row.delay, link.max_delay);
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const LinkRow& a, const LinkRow& b) {
    return std::pair(a.delay, a.utilization) > std::pair(b.delay, b.utilization);
  });
  return rows;
}

// The busiest links, and those that made messages late, most first.
std::size_t shown_of(const std::vector<LinkRow>& rows) {
  constexpr std::size_t at_least = 4;
  constexpr std::size_t at_most = 16;
  std::size_t shown = 0;
  while (shown < std::min(rows.size(), at_most) && rows[shown].utilization > 0 &&
         (shown < at_least || rows[shown].delay > 0_s)) {
    ++shown;
  }
  return shown;
}

std::string links_table(const SimulationReport& report) {
  std::vector<Column> columns{{"link", Align::left}, {"capacity", Align::right}};
  for (const PlanSimulation& plan : report.plans) {
    columns.push_back({strategy_name(plan.label), Align::right});
  }
  Table table(columns);
  const std::vector<LinkRow> rows = rows_of(report);
  const std::size_t shown = shown_of(rows);
  for (std::size_t i = 0; i < shown; ++i) {
    std::vector<std::string> cells{rows[i].first->name, to_text(rows[i].first->capacity)};
    for (const sim::LinkUse* use : rows[i].of_plan) {
      cells.push_back(
          use == nullptr
              ? ""
              : percent(use->utilization) +
                    (use->max_delay > 0_s ? fmt::format(" ({} ms late)", ms(use->max_delay)) : ""));
    }
    table.add(std::move(cells));
  }
  if (table.empty()) {
    return "";
  }
  const auto others = std::count_if(rows.begin() + static_cast<std::ptrdiff_t>(shown), rows.end(),
                                    [](const LinkRow& row) { return row.delay > 0_s; });
  const bool is_late = !rows.empty() && rows.front().delay > 0_s;
  return fmt::format("\n{}", table.markdown()) +
         (others == 0
              ? ""
              : fmt::format("\n{} more made messages late, none by more; --json has them all.\n",
                            others)) +
         (is_late ? fmt::format("\nLate: the {} that a link made latest.\n",
                                report.steps ? "send" : "message")
                  : "");
}

// Where not all wait for all: how many of the ranks are through sooner.
std::string ends_sentence(const SimulationReport& report) {
  std::string text;
  for (const PlanSimulation& plan : report.plans) {
    const sim::SimulatedStep& step = plan.simulated;
    const auto last = std::max_element(step.place_ends.begin(), step.place_ends.end());
    if (plan.over_graph && step.first_end < *last) {
      text += fmt::format(
          "\n{}: ranks wait for their neighbours only: the first is through after {}, all in the "
          "mean after {}, the last after {} ms.\n",
          plan.label, ms(step.first_end), ms(step.mean_end), ms(*last));
    }
  }
  return text;
}

// How far the ranks and links folded, or why not.
std::string fold_sentence(const SimulationReport& report) {
  const sim::FoldReport& fold = report.fold;
  if (fold.ranks == 1) {
    return {};
  }
  const std::string classes =
      fmt::format("{} {}", fold.places, fold.places == 1 ? "class" : "classes");
  if (fold.channels == 0) {
    return report.not_folded.empty()
               ? fmt::format(
                     "\n{} ranks folded into {}: those of a pipeline stage are alike, and without "
                     "a topology nothing tells their links apart.\n",
                     fold.ranks, classes)
               : fmt::format("\n{} ranks, not folded: {}.\n", fold.ranks, report.not_folded);
  }
  // Without level `steps` what stages send each other are the only sends.
  const std::string groups =
      report.steps
          ? fmt::format("{} groups and pairs of stages in {} classes, {} sends of programs in {}",
                        fold.channels, fold.channel_classes, fold.sends, fold.send_classes)
          : fmt::format("{} groups and sends in {} classes", fold.channels, fold.channel_classes);
  const std::string links =
      fmt::format("{}, {} directed links in {}", groups, fold.links, fold.link_classes);
  if (!report.not_folded.empty()) {
    return fmt::format("\n{} ranks, not folded: {}; {}.\n", fold.ranks, report.not_folded, links);
  }
  return fmt::format("\n{} ranks folded into {}{}; {}.\n", fold.ranks, classes,
                     fold.listed < fold.ranks ? fmt::format(" ({} ranks listed)", fold.listed) : "",
                     links);
}

}  // namespace

std::string simulation_text(const SimulationReport& report) {
  std::string text = experiment_headline(report.experiment) + "\n\n" + steps_table(report) + "\n";
  for (const PlanSimulation& plan : report.plans) {
    text += path_sentence(plan) + memory_sentence(plan);
  }
  text += traffic_table(report);
  text += links_table(report);
  text += ends_sentence(report);
  text += fold_sentence(report);
  text +=
      report.fold.channels > 0
          ? "\nTimes in ms; traffic of the rank that ends last; pp is what comes to it.\n"
          : "\nTimes in ms; links and traffic of the stage that ends last and of one node; pp is "
            "what comes to it.\n";
  if (report.plans.back().simulated.interrupted) {
    text += "Interrupted: the last strategy is simulated up to the time shown.\n";
  }
  if (const std::string trust = trust_text(report.trust); !trust.empty()) {
    text += trust + "\n";
  }
  return text;
}

}  // namespace payoff
