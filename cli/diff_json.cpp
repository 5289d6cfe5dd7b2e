// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "cli/diff_report.hpp"

namespace payoff {
namespace {

using Json = nlohmann::ordered_json;

Json terms_json(const Terms& terms) {
  Json json = Json::object();
  for (std::size_t i = 0; i < terms.size(); ++i) {
    json[std::string(step_terms.at(i).first) + "_seconds"] = terms[i].si;
  }
  return json;
}

Json value_json(const std::optional<Node>& value, const SourceMap& sources) {
  if (!value) {
    return nullptr;
  }
  const Location place = sources.locate(value->span);
  return {{"value", one_line(*value)},
          {"file", place.name},
          {"line", place.line},
          {"column", place.column}};
}

std::string kind_of(Cause::Kind kind) {
  switch (kind) {
    case Cause::Kind::keys:
      return "keys";
    case Cause::Kind::program_of_a:
      return "made anew: A";
    case Cause::Kind::program_of_b:
      return "made anew: B";
    case Cause::Kind::machine:
      return "machine";
    case Cause::Kind::unexplained:
      return "not explained";
  }
  return {};
}

}  // namespace

void add_diff_json(const DiffReport& report, Json& json) {
  const Difference& d = report.difference;
  json["a"] = {{"what", report.a}, {"step_seconds", d.a.si}, {"waterfall", terms_json(d.a_terms)}};
  json["b"] = {{"what", report.b}, {"step_seconds", d.b.si}, {"waterfall", terms_json(d.b_terms)}};
  json["difference_seconds"] = (d.b - d.a).si;
  json["unexplained_seconds"] = d.unexplained.si;
  json["rule"] = d.rule == AttributionRule::shapley ? "shapley" : "both directions";
  json["predictions"] = d.states;
  json["causes"] = Json::array();
  for (const Cause& cause : d.causes) {
    Json keys = Json::array();
    for (const ChangedKey& key : cause.keys) {
      keys.push_back({{"path", key.path},
                      {"a", value_json(key.in_a, report.sources)},
                      {"b", value_json(key.in_b, report.sources)}});
    }
    const bool machine = cause.kind == Cause::Kind::machine;
    json["causes"].push_back({{"kind", kind_of(cause.kind)},
                              {"keys", std::move(keys)},
                              {"machine", machine ? Json(cause.machine) : Json(nullptr)},
                              {"sigmas", machine ? Json(cause.deviations) : Json(nullptr)},
                              {"contribution_seconds", cause.contribution.si},
                              {"waterfall", terms_json(cause.terms)}});
  }
  json["notes"] = report.notes;
}

}  // namespace payoff
