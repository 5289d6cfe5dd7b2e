// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/input_json.hpp"
#include "cli/json_output.hpp"
#include "cli/survey_report.hpp"
#include "cli/table.hpp"

namespace payoff {
namespace {

using Json = nlohmann::ordered_json;

Json setup_json(const SurveyReport& report, const Setup& setup) {
  Json json = axes_json(report.question, setup.job, setup.values);
  json["strategy"] = setup.plan.label;
  const bool possible = setup.impossible.empty();
  const auto known = [&](const auto& value) { return possible ? Json(value) : Json(nullptr); };
  json["finding"] = possible ? Json(name(setup.plan.finding)) : Json("impossible");
  json["reason"] = possible ? Json(nullptr) : Json(setup.impossible);
  json["pays_over_job"] = known(setup.plan.pays_over_job);
  json["step_seconds"] = known(setup.plan.step.si);
  json["speedup"] = known(setup.plan.speedup);
  json["speedup_against_remedy"] = known(setup.plan.speedup_against_remedy);
  json["probability"] = known(setup.plan.probability);
  add_extrapolated(setup.extrapolated, json);
  if (!possible) {
    for (const char* key :
         {"messages_extrapolated", "kernels_extrapolated", "pairs_extrapolated"}) {
      json[key] = nullptr;
    }
  }
  return json;
}

std::string cell(const Json& value) {
  return value.is_null()           ? std::string()
         : value.is_string()       ? value.get<std::string>()
         : value.is_number_float() ? exact_number(value.get<double>())
                                   : value.dump();
}

}  // namespace

std::string survey_json(const SurveyReport& report, const Session& session) {
  Json json = json_envelope("survey", session);
  json["experiment"] = experiment_json(report.first);
  json["profiles"] = profiles_json(report.library, session.sources(), report.first);
  json["draws"] = report.options.draws;
  json["seed"] = report.options.seed;
  json["band_ratio"] = report.options.band;
  json["axes"] = Json::array();
  for (const SweepAxis& axis : report.question.design.axes()) {
    json["axes"].push_back({{"key", axis.key}, {"values", axis.values}});
  }
  json["strategies"] = report.question.strategies;
  json["setups"] = report.possible();
  json["impossible"] = report.setups.size() - report.possible();
  json["pay_over_job"] = report.pay_over_job();
  json["findings"] = Json::object();
  for (const SurveyFinding finding : all_findings) {
    json["findings"][std::string(name(finding))] = report.found(finding);
  }
  json["rows"] = Json::array();
  for (const Setup& setup : report.setups) {
    json["rows"].push_back(setup_json(report, setup));
  }
  json["verdict"] = survey_sentence(report);
  return json.dump(2) + "\n";
}

std::string survey_csv(const SurveyReport& report) {
  std::string text;
  for (const Setup& setup : report.setups) {
    const Json row = setup_json(report, setup);
    std::vector<std::string> names;
    std::vector<std::string> cells;
    for (const auto& [key, value] : row.items()) {
      names.push_back(key);
      cells.push_back(cell(value));
    }
    text += (text.empty() ? csv_line(names) : "") + csv_line(cells);
  }
  return text;
}

}  // namespace payoff
