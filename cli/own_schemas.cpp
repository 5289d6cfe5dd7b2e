// SPDX-License-Identifier: Apache-2.0
#include "cli/own_schemas.hpp"

#include <nlohmann/json.hpp>

namespace payoff {

std::string survey_schema(const std::string& experiment_schema) {
  using Json = nlohmann::ordered_json;
  Json schema = Json::parse(experiment_schema);
  schema["title"] = "payoff: survey";
  const Json value = {{"type", {"string", "number", "boolean"}}};
  schema["properties"]["over"] = {
      {"description", "axes: a key or the name of its option, and a series (8..64:x2) or a list"},
      {"type", "object"},
      {"minProperties", 1},
      {"additionalProperties",
       {{"anyOf", {value, Json{{"type", "array"}, {"items", value}, {"minItems", 1}}}}}}};
  // A model or a cluster may be an axis, and a file without axes takes them from --over.
  Json& required = schema["then"];
  required.erase("required");
  required["properties"]["cluster"].erase("required");
  return schema.dump(1) + "\n";
}

}  // namespace payoff
