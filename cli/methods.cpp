// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/json_output.hpp"
#include "cli/method_text.hpp"
#include "cli/option_values.hpp"
#include "cli/profile_library.hpp"
#include "cli/table.hpp"
#include "model/units_text.hpp"
#include "profiles/suggest.hpp"

// payoff methods: the catalogue of compression methods, or one with its formulas and sources.

namespace payoff {
namespace {

// Of a shipped method, or of a file of the user's own.
std::optional<MethodText> read_text(const std::string& name, std::optional<Span> asked,
                                    const Library& library, Session& session) {
  const ReadContext context{library, session.sources(), session.diagnostics()};
  const auto read = read_method_profile(name, asked, context);
  return read ? std::optional(method_text(name, *read, context)) : std::nullopt;
}

void report_unknown_method(const Argument& asked, const Library& library, Session& session) {
  session.diagnostics().error(
      asked.span, fmt::format("no method {}", backquoted(asked.text)),
      did_you_mean(closest(asked.text, library.names(ProfileKind::compression))),
      "`payoff methods` lists them all");
}

ExitCode finish(const Rendering& rendering, const Arguments& arguments, Session& session) {
  if (!session.diagnostics().has_errors()) {
    OutputFiles files;
    deliver(rendering, arguments, files, session);
  }
  return session.report();
}

ExitCode list(const Arguments& arguments, Session& session) {
  const Library library = find_library();
  Table table({{"method", Align::left},
               {"class", Align::left},
               {"rounds", Align::left},
               {"sends", Align::right},
               {"checked", Align::left},
               {"description", Align::left}});
  std::string csv = csv_line({"method", "class", "rounds", "wire_ratio", "checked", "description"});
  nlohmann::ordered_json json = json_envelope("methods", session);
  json["methods"] = nlohmann::ordered_json::array();
  std::size_t unchecked = 0;
  for (const std::string& name : library.names(ProfileKind::compression)) {
    const auto method = read_text(name, std::nullopt, library, session);
    if (!method) {
      continue;
    }
    const std::string rounds = fmt::format("{}", fmt::join(method->collectives, " + "));
    const std::string checked = method->notes.unchecked.empty() ? "yes" : "no";
    unchecked += method->notes.unchecked.empty() ? 0U : 1U;
    table.add({name, method->implementation, rounds, percent_text(method->wire_ratio), checked,
               method->description});
    csv += csv_line({name, method->implementation, rounds, exact_number(method->wire_ratio),
                     checked, method->description});
    json["methods"].push_back(shown_json(*method));
  }
  const std::string text = fmt::format(
      "{}\n`sends`: bytes that one worker contributes, of fp32, for a 1536 x 768 matrix with 16 "
      "workers in nodes of 4.\n{} are not held to an independently sourced number by a test; "
      "predictions with them say so.\n`payoff methods show NAME` prints formulas and sources.\n",
      table.markdown(), unchecked);
  return finish({text, json.dump(2) + "\n", csv}, arguments, session);
}

ExitCode show(const std::vector<Argument>& asked, const Arguments& arguments, Session& session) {
  const Library library = find_library();
  std::string text;
  std::string csv = csv_line({"method", "key", "value"});
  nlohmann::ordered_json json = json_envelope("methods", session);
  json["methods"] = nlohmann::ordered_json::array();
  for (const Argument& name : asked) {
    if (!is_own_file(name.text) && !library.has(ProfileKind::compression, name.text)) {
      report_unknown_method(name, library, session);
      continue;
    }
    const auto method = read_text(name.text, name.span, library, session);
    if (!method) {
      continue;
    }
    text += (text.empty() ? "" : "\n") + shown_text(*method);
    json["methods"].push_back(shown_json(*method));
    for (const auto& [path, written] : method->formulas) {
      csv += csv_line({name.text, path, written});
    }
  }
  return finish({text, json.dump(2) + "\n", csv}, arguments, session);
}

ExitCode run_methods(const Arguments& arguments, Session& session) {
  std::vector<Argument> words = arguments.positionals();
  if (words.empty()) {
    return list(arguments, session);
  }
  const Argument action = words.front();
  words.erase(words.begin());
  if (action.text == "list" && words.empty()) {
    return list(arguments, session);
  }
  if (action.text == "list") {
    session.diagnostics().error(words.front().span, "`payoff methods list` takes no name", {},
                                "`payoff methods show NAME` prints one");
  } else if (action.text != "show") {
    report_unknown_name("list or show", action, {"list", "show"}, session);
  } else if (words.empty()) {
    session.diagnostics().error(action.span, "`payoff methods show` needs a name", {},
                                "`payoff methods` lists them all");
  } else {
    return show(words, arguments, session);
  }
  return session.report();
}

}  // namespace

Command methods_command() {
  return {"methods",
          "lists the compression methods, or shows one with its formulas and sources",
          "payoff methods\n  payoff methods show powersgd",
          {"list | show NAME", "what to do; without it, all are listed", 0, 32},
          {json_option, csv_option},
          run_methods};
}

}  // namespace payoff
