// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "cli/input_json.hpp"
#include "cli/json_output.hpp"
#include "cli/needs_report.hpp"
#include "cli/trust_json.hpp"

namespace payoff {
namespace {

using Json = nlohmann::ordered_json;
using Kind = PossibleMeasurement::Kind;

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::step:
      return "step";
    case Kind::profile:
      return "step and exposed communication";
    case Kind::compute:
      return "compute";
    case Kind::messages:
      return "messages";
    case Kind::codec:
      return "codec";
    case Kind::beside:
      return "codec beside other work";
  }
  return "";
}

Json next_json(const NextMeasurement& next) {
  const bool is_step = next.kind == Kind::step || next.kind == Kind::profile;
  return {{"measurement", name_of(next.kind)},
          {"nodes", is_step ? Json(next.nodes) : Json(nullptr)},
          {"dp", is_step ? Json(next.dp) : Json(nullptr)},
          {"messages", next.kind == Kind::messages ? Json(name(next.unknown)) : Json(nullptr)},
          {"spread_ratio", next.expected.spread_ratio},
          {"called_probability", next.expected.called}};
}

Json fact_json(const Fact& fact) {
  return {{"path", fact.path},
          {"value", fact.value_text},
          {"provenance", name_of(fact.kind)},
          {"relative_sd", fact.relative_sd ? Json(*fact.relative_sd) : Json(nullptr)}};
}

Json need_json(const Need& need) {
  Json json{{"subject", need.subject},
            {"variance_share", need.variance_share},
            {"speedup_low", need.speedup_low},
            {"speedup_high", need.speedup_high},
            {"measurements", Json::array()}};
  for (const Measurement& measurement : need.measurements) {
    Json settles = Json::array();
    for (const Fact& fact : measurement.settles) {
      settles.push_back(fact_json(fact));
    }
    json["measurements"].push_back({{"measurement", measurement.text}, {"settles", settles}});
  }
  return json;
}

}  // namespace

std::string needs_json(const NeedsReport& report, const Session& session) {
  const Comparison& gain = report.plan.against_remedy;
  Json json = json_envelope("needs", session);
  json["experiment"] = experiment_json(report.read);
  json["profiles"] = profiles_json(report.library, session.sources(), report.read);
  json["plan"] = report.plan.label;
  json["speedup_against_remedy"] = {
      {"value", gain.speedup}, {"low", gain.speedup_low}, {"high", gain.speedup_high}};
  json["verdict"] = name(Payoff::verdict_of(report.plan));
  json["called_probability_now"] = report.next.now.called;
  json["next"] = Json::array();
  for (const NextMeasurement& next : report.next.measurements) {
    json["next"].push_back(next_json(next));
  }
  json["needs"] = Json::array();
  for (const Need& need : report.needs) {
    json["needs"].push_back(need_json(need));
  }
  json["trust"] = trust_json(report.trust);
  return json.dump(2) + "\n";
}

}  // namespace payoff
