// SPDX-License-Identifier: Apache-2.0
#include "cli/json_output.hpp"

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "cli/output_guard.hpp"

namespace payoff {

nlohmann::ordered_json json_envelope(std::string_view command, const Session& session) {
  nlohmann::ordered_json json;
  json["schema"] = result_schema;
  json["kind"] = command;
  json["tool"] = {{"name", "payoff"}, {"version", PAYOFF_VERSION}};
  json["command_line"] = session.command_line();
  return json;
}

void deliver(const Rendering& rendering, const Arguments& arguments, OutputFiles& files,
             Session& session) {
  const auto is_stdout = [](const std::optional<Argument>& target) {
    return target && (target->text.empty() || target->text == "-");
  };
  const std::optional<Argument> json = arguments.value(json_option.name);
  const std::optional<Argument> csv = arguments.value(csv_option.name);
  if (json && !is_stdout(json)) {
    files.add(json->text, rendering.json);
  }
  if (csv && !is_stdout(csv)) {
    files.add(csv->text, rendering.csv);
  }
  if (!inputs_are_kept(arguments, session)) {
    return;
  }
  files.commit();
  if (is_stdout(json)) {
    session.out() << rendering.json;
  } else if (is_stdout(csv)) {
    session.out() << rendering.csv;
  } else {
    session.out() << rendering.table;
  }
}

}  // namespace payoff
