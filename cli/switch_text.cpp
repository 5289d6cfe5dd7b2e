// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/counted.hpp"
#include "cli/switch_report.hpp"
#include "cli/table.hpp"
#include "cli/training_text.hpp"
#include "model/units_text.hpp"

namespace payoff {
namespace {

using Json = nlohmann::ordered_json;

void add_transfer(std::string what, const Transfer& transfer, Table& table) {
  table.add({std::move(what), to_text(transfer.traffic.total),
             to_text(transfer.traffic.busiest_node), fixed(transfer.traffic.files, 0),
             std::string(name(transfer.limit)), long_time_text(transfer.time)});
}

std::string cost_table(const SwitchReport& report) {
  const SwitchAnswer& answer = report.answer;
  Table table({{"what", Align::left},
               {"bytes", Align::right},
               {"busiest node", Align::right},
               {"files of a rank", Align::right},
               {"limited by", Align::left},
               {"time", Align::right}});
  add_transfer("save", answer.save, table);
  if (answer.conversion) {
    const std::string nodes = counted(report.convert_nodes, "node");
    add_transfer("convert, read on " + nodes, answer.conversion->read, table);
    add_transfer("convert, write on " + nodes, answer.conversion->write, table);
  }
  table.add({"restart", "", "", "", "",
             answer.restart > Seconds{} ? long_time_text(answer.restart) : "not given"});
  add_transfer(answer.conversion ? "load slices of atoms" : "load as saved", answer.load, table);
  table.add({"all", "", "", "", "", long_time_text(answer.cost)});
  return table.markdown();
}

std::string state_sentence(const SwitchAnswer& answer) {
  const ParameterState& state = answer.shape_a.state;
  return fmt::format(
      "State of a parameter: {} of weight and {} of the optimizer{}; {} parameters. {}\n",
      to_text(state.weight), to_text(state.optimizer),
      state.master ? ", its 32-bit weight included" : "", number_text(answer.shape_a.parameters),
      answer.conversion ? "The other layout shards otherwise: what was saved is converted into one "
                          "file for each tensor's 32-bit weight and each of its moments."
                        : "Every rank holds the same shard in both: nothing is converted.");
}

std::string step_of(const SwitchedJob& job) {
  return fmt::format(
      "{} for {} samples",
      with_interval(job.step / 1_ms, job.step_low / 1_ms, job.step_high / 1_ms, "ms"),
      fixed(job.samples, 0));
}

std::string end_text(const std::optional<double>& steps) {
  return steps ? fixed(std::ceil(*steps), 0) : "never";
}
std::string end_text(const std::optional<Seconds>& time) {
  return time ? long_time_text(*time) : "never";
}

std::string answer_sentence(const SwitchReport& report) {
  const SwitchAnswer& answer = report.answer;
  if (!answer.b.fits) {
    return "Never pays back: B does not fit the memory of a GPU.\n";
  }
  const std::string sure =
      fmt::format("B is faster in {} of the draws", percent_text(answer.probability));
  if (!answer.steps) {
    return fmt::format(
        "Never pays back: a step of B takes {} longer than A needs for its samples "
        "({}).\n",
        to_text(-answer.gain), sure);
  }
  return fmt::format(
      "Pays back after {} steps (90 %: {} to {}), {} after the old job was stopped ({} to {}): a "
      "step of B gains {}; {}.\n",
      end_text(answer.steps), end_text(answer.steps_low), end_text(answer.steps_high),
      end_text(answer.after), end_text(answer.after_low), end_text(answer.after_high),
      to_text(answer.gain), sure);
}

Json transfer_json(const Transfer& transfer) {
  return {{"total_bytes", transfer.traffic.total.si},
          {"busiest_node_bytes", transfer.traffic.busiest_node.si},
          {"files", transfer.traffic.files},
          {"limited_by", name(transfer.limit)},
          {"time_seconds", transfer.time.si}};
}

Json job_json(const std::string& what, const SwitchedJob& job, const PricedUses& uses) {
  Json json{{"what", what},
            {"step_seconds", job.step.si},
            {"step_low_seconds", job.step_low.si},
            {"step_high_seconds", job.step_high.si},
            {"samples", job.samples},
            {"fits", job.fits}};
  add_extrapolated(uses.extrapolated(), json);
  return json;
}

Json or_never(const std::optional<double>& steps) { return steps ? Json(*steps) : Json(nullptr); }
Json or_never(const std::optional<Seconds>& time) { return time ? Json(time->si) : Json(nullptr); }

}  // namespace

std::string switch_text(const SwitchReport& report) {
  const SwitchAnswer& answer = report.answer;
  std::string text =
      fmt::format("A: {}, {}\nB: {}, {}\n\n{}\n{}", report.a, step_of(answer.a), report.b,
                  step_of(answer.b), cost_table(report), state_sentence(answer));
  if (report.feedback > Bytes{}) {
    text += fmt::format(
        "The error feedback of A, {} on a GPU, is in no checkpoint: what it holds back is lost.\n",
        to_text(report.feedback));
  }
  for (const auto& [letter, uses] :
       {std::pair('A', &report.uses_a), std::pair('B', &report.uses_b)}) {
    const std::string beyond = extrapolation_sentence(*uses);
    text += beyond.empty() ? beyond : fmt::format("Of {} {}\n", letter, beyond);
  }
  return text + "\n" + answer_sentence(report);
}

void add_switch_json(const SwitchReport& report, Json& json) {
  const SwitchAnswer& answer = report.answer;
  json["a"] = job_json(report.a, answer.a, report.uses_a);
  json["b"] = job_json(report.b, answer.b, report.uses_b);
  json["weight_bytes_per_parameter"] = answer.shape_a.state.weight.si;
  json["optimizer_bytes_per_parameter"] = answer.shape_a.state.optimizer.si;
  json["parameters"] = answer.shape_a.parameters;
  json["save"] = transfer_json(answer.save);
  json["convert_read"] = answer.conversion ? transfer_json(answer.conversion->read) : Json(nullptr);
  json["convert_write"] =
      answer.conversion ? transfer_json(answer.conversion->write) : Json(nullptr);
  json["restart_seconds"] = answer.restart.si;
  json["load"] = transfer_json(answer.load);
  json["cost_seconds"] = answer.cost.si;
  json["lost_feedback_bytes"] = report.feedback.si;
  json["gain_seconds"] = answer.gain.si;
  json["probability"] = answer.probability;
  const bool fits = answer.b.fits;
  json["pays_back"] = {{"steps", fits ? or_never(answer.steps) : Json(nullptr)},
                       {"steps_low", fits ? or_never(answer.steps_low) : Json(nullptr)},
                       {"steps_high", fits ? or_never(answer.steps_high) : Json(nullptr)},
                       {"after_seconds", fits ? or_never(answer.after) : Json(nullptr)},
                       {"after_low_seconds", fits ? or_never(answer.after_low) : Json(nullptr)},
                       {"after_high_seconds", fits ? or_never(answer.after_high) : Json(nullptr)}};
}

}  // namespace payoff
