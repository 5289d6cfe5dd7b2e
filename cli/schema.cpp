// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/experiment_input.hpp"
#include "cli/option_values.hpp"
#include "cli/own_schemas.hpp"
#include "cli/profile_library.hpp"
#include "profiles/key_schema.hpp"
#include "profiles/record_keys.hpp"

// payoff schema: what can stand in a file, for editors.

namespace payoff {
namespace {

ExitCode run_schema(const Arguments& arguments, Session& session) {
  std::string_view kind = document_kinds().front();
  if (!arguments.positionals().empty()) {
    std::vector<std::pair<std::string, std::string_view>> kinds;
    for (const std::string_view each : document_kinds()) {
      kinds.emplace_back(each, each);
    }
    for (const std::string_view each : own_kinds) {
      kinds.emplace_back(each, each);
    }
    kind = named_value("a kind of file", arguments.positionals().front(), kinds, session)
               .value_or(kind);
  }
  if (session.diagnostics().has_errors()) {
    return session.report();
  }
  if (const std::string_view kept = kept_schema(kind); !kept.empty()) {
    session.out() << kept;
    return session.report();
  }
  const std::string_view experiment = document_kinds().front();
  const std::string_view read = kind == survey_kind ? experiment : kind;
  const KeyHelp help = [read, experiment](std::string_view path) {
    return read == experiment ? std::string(help_of_key(path)) : std::string();
  };
  const std::string schema = json_schema(read, all_keys(read, find_library()), help);
  session.out() << (kind == survey_kind ? survey_schema(schema) : schema);
  return session.report();
}

}  // namespace

Command schema_command() {
  return {
      "schema",
      "prints the JSON Schema of a kind of file, for editors and validators",
      "payoff schema experiment\n  payoff schema compression",
      {"KIND",
       "experiment (the default), topology, gossip, gpu, fabric, network, cluster, model, "
       "software, "
       "compression, survey (an experiment with axes), result (what --json prints), samples (of "
       "kernels) or fitted (laws of profiles/fitted)",
       0, 1},
      {},
      run_schema,
      "The first line of a file tells an editor with a YAML language server which schema is "
      "meant:\n"
      "  # yaml-language-server: $schema=experiment.schema.json\n"
      "What `payoff schema` says of keys, names, units and ranges is what the readers ask for;\n"
      "what holds between values is for `payoff check` alone.\n"};
}

}  // namespace payoff
