// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/json_output.hpp"
#include "cli/residual_text.hpp"
#include "cli/table.hpp"
#include "cli/validation_report.hpp"

namespace payoff {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json verdict_json(Call call) { return call == Call::none ? Json(nullptr) : Json(name(call)); }

Json case_json(const ValidationCase& c) {
  Json json{{"id", c.id},
            {"source", c.source},
            {"system", c.system},
            {"kind", name(c.kind)},
            {"half", to_text(c.half)},
            {"unit", c.unit},
            {"measured", or_null(c.measured)},
            {"predicted", or_null(c.predicted)},
            {"low", c.predicted ? Json(c.low) : Json(nullptr)},
            {"high", c.predicted ? Json(c.high) : Json(nullptr)},
            {"error", c.scored() ? Json(c.error()) : Json(nullptr)},
            {"band", c.size.text},
            {"scale", c.scale.text},
            {"verdict_predicted", verdict_json(c.predicted_call)},
            {"verdict_measured", verdict_json(c.measured_call)}};
  Json others = Json::object();
  for (const Rival& rival : c.rivals) {
    others[rival.name] = rival.predicted;
  }
  json["others"] = std::move(others);
  json["unsupported"] = c.reasons;
  json["assumed"] = c.assumptions;
  return json;
}

Json errors_json(const ErrorStatistics& errors) {
  if (errors.count == 0) {
    return nullptr;
  }
  return {{"median", errors.median}, {"p95", errors.p95}, {"bias", errors.bias}};
}

Json calls_json(const CallStatistics& calls) {
  if (calls.callable == 0) {
    return nullptr;
  }
  return {{"n", calls.callable},
          {"abstention", calls.abstention},
          {"balanced_accuracy", or_null(calls.balanced_accuracy)}};
}

Json summary_json(const ValidationSummary& summary, const char* by) {
  Json json{{"kind", name(summary.kind)},
            {"half", to_text(summary.half)},
            {"by", by},
            {"group", summary.group.text},
            {"cases", summary.cases},
            {"n", summary.errors.count},
            {"unsupported", summary.unsupported},
            {"absolute_error", errors_json(summary.errors)},
            {"coverage", summary.errors.count > 0 ? Json(summary.coverage) : Json(nullptr)},
            {"verdicts", calls_json(summary.calls)}};
  json["others"] = Json::array();
  for (const RivalSummary& rival : summary.rivals) {
    json["others"].push_back({{"name", rival.name},
                              {"n", rival.errors.count},
                              {"absolute_error", errors_json(rival.errors)},
                              {"our_median", rival.ours_median},
                              {"verdicts", calls_json(rival.calls)}});
  }
  return json;
}

std::string cell(const std::optional<double>& value) { return value ? exact_number(*value) : ""; }

}  // namespace

std::string validation_json(const ValidationReport& report, const Session& session) {
  Json json = json_envelope("validation", session);
  json["split_sha256"] = report.split_sha256;
  json["interval"] = 0.9;
  json["cases"] = Json::array();
  for (const ValidationCase& c : report.cases) {
    json["cases"].push_back(case_json(c));
  }
  json["summary"] = Json::array();
  constexpr std::array groupings{
      std::pair{GroupBy::nothing, "all"}, std::pair{GroupBy::source, "source"},
      std::pair{GroupBy::size, "size"}, std::pair{GroupBy::scale, "scale"}};
  for (const auto& [by, text] : groupings) {
    for (const ValidationSummary& summary : summarise(report.cases, by)) {
      json["summary"].push_back(summary_json(summary, text));
    }
  }
  json["unsupported"] = Json::array();
  for (const ReasonCount& count : count_reasons(report.cases)) {
    json["unsupported"].push_back(
        {{"kind", name(count.kind)}, {"reason", count.reason}, {"cases", count.cases}});
  }
  json["worst"] = residuals_json(report);
  json["findings"] = Json::array();
  for (const Finding& finding : report.rejected) {
    json["findings"].push_back({{"file", finding.file},
                                {"line", finding.line},
                                {"entry", finding.entry},
                                {"message", finding.message},
                                {"rejected", finding.effect == Effect::rejected}});
  }
  return json.dump(2) + "\n";
}

std::string validation_csv(const ValidationReport& report) {
  std::string text = csv_line({"id", "source", "system", "kind", "half", "unit", "measured",
                               "predicted", "low", "high", "error", "band", "scale",
                               "verdict_predicted", "verdict_measured", "unsupported"});
  for (const ValidationCase& c : report.cases) {
    std::string reasons;
    for (const std::string& reason : c.reasons) {
      reasons += reasons.empty() ? "" : "; ";
      reasons += reason;
    }
    text += csv_line({c.id, c.source, c.system, std::string(name(c.kind)), to_text(c.half), c.unit,
                      cell(c.measured), cell(c.predicted), c.predicted ? exact_number(c.low) : "",
                      c.predicted ? exact_number(c.high) : "",
                      c.scored() ? exact_number(c.error()) : "", c.size.text, c.scale.text,
                      std::string(name(c.predicted_call)), std::string(name(c.measured_call)),
                      reasons});
  }
  return text;
}

}  // namespace payoff
