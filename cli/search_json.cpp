// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/input_json.hpp"
#include "cli/json_output.hpp"
#include "cli/layout_text.hpp"
#include "cli/search_report.hpp"
#include "cli/step_json.hpp"

namespace payoff {
namespace {

using Json = nlohmann::ordered_json;

Json finalist_json(const SearchReport& report, const Finalist& finalist) {
  Json json{{"layout", layout_json(finalist.layout)},
            {"strategy", finalist.label},
            {"step_seconds", finalist.step().si},
            {"step_low_seconds", finalist.step_low.si},
            {"step_high_seconds", finalist.step_high.si}};
  json["simulated_step_seconds"] =
      finalist.simulated ? Json(finalist.simulated->si) : Json(nullptr);
  json["analytical_step_seconds"] = finalist.prediction.step.si;
  json["waterfall"] = waterfall_json(finalist.prediction.waterfall);
  json["memory_bytes"] = finalist.prediction.memory.total().si;
  json["fits"] = finalist.prediction.memory.fits();
  json["tied"] = finalist.tied;
  json["against_given"] = comparison_json(finalist.against_given);
  add_extrapolated(report.uses(finalist).extrapolated(), json);
  return json;
}

Json finalists_json(const SearchReport& report, const std::vector<Finalist>& finalists) {
  Json json = Json::array();
  for (const Finalist& finalist : finalists) {
    json.push_back(finalist_json(report, finalist));
  }
  return json;
}

}  // namespace

std::string search_json(const SearchReport& report, const Session& session) {
  const SearchAnswer& answer = report.answer;
  const SearchCounts& counts = answer.found.counts;
  Json json = json_envelope("search", session);
  json["experiment"] = experiment_json(report.read);
  json["profiles"] = profiles_json(report.library, session.sources(), report.read);
  json["strategies"] = Json::array();
  for (const CompressionPlan& plan : report.read.experiment.plans) {
    json["strategies"].push_back(plan.label);
  }
  json["band_ratio"] = report.options.band;
  json["draws"] = report.options.draws;
  json["seed"] = report.options.seed;
  json["complete"] = answer.found.is_complete;
  json["candidates"] = {{"layouts", counts.layouts},  {"considered", counts.considered},
                        {"refused", counts.invalid},  {"no_memory", counts.no_memory},
                        {"ruled_out", counts.pruned}, {"priced", counts.priced}};
  json["given"] = finalist_json(report, answer.given);
  json["uncompressed"] = finalists_json(report, answer.uncompressed);
  json["compressed"] = finalists_json(report, answer.compressed);
  json["compression_gain"] = answer.gain ? comparison_json(*answer.gain) : Json(nullptr);
  json["at_best_layout"] = nullptr;
  if (answer.at_best_layout) {
    const PlanPayoff& plan = answer.at_best_layout->plans.back();
    json["at_best_layout"] = {{"strategy", plan.label},
                              {"remedy", answer.at_best_layout->remedy.description},
                              {"against_remedy", comparison_json(plan.against_remedy)}};
  }
  return json.dump(2) + "\n";
}

}  // namespace payoff
