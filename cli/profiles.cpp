// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/json_output.hpp"
#include "cli/option_values.hpp"
#include "cli/profile_library.hpp"
#include "cli/profile_text.hpp"
#include "cli/table.hpp"
#include "profiles/suggest.hpp"

// payoff profiles: what is shipped, and every number of it with its source.

namespace payoff {
namespace {

std::vector<std::pair<std::string, ProfileKind>> kind_names() {
  std::vector<std::pair<std::string, ProfileKind>> names;
  names.reserve(std::size(all_profile_kinds));
  for (const ProfileKind kind : all_profile_kinds) {
    names.emplace_back(folder_of(kind), kind);
  }
  return names;
}

ExitCode list(const std::vector<ProfileKind>& kinds, const Arguments& arguments, Session& session) {
  const Library library = find_library();
  Table table({{"kind", Align::left}, {"name", Align::left}, {"description", Align::left}});
  std::string csv = csv_line({"kind", "name", "description"});
  nlohmann::ordered_json json = json_envelope("profiles", session);
  json["profiles"] = nlohmann::ordered_json::array();
  for (const ProfileKind kind : kinds) {
    for (const std::string& name : library.names(kind)) {
      const std::string description =
          profile_description(kind, name, {library, session.sources(), session.diagnostics()});
      const std::vector<std::string> row{std::string(folder_of(kind)), name, description};
      table.add(row);
      csv += csv_line(row);
      json["profiles"].push_back({{"kind", row[0]}, {"name", name}, {"description", description}});
    }
  }
  if (!session.diagnostics().has_errors()) {
    OutputFiles files;
    deliver({table.markdown() + "\n`payoff profiles show NAME` prints one with its sources.\n",
             json.dump(2) + "\n", csv},
            arguments, files, session);
  }
  return session.report();
}

std::string shown_text(const ProfileText& profile) {
  std::string text =
      fmt::format("{} {} · {}\n\n", folder_of(profile.kind), profile.name, profile.description);
  Table table({{"key", Align::left},
               {"value", Align::left},
               {"±", Align::right},
               {"from", Align::left},
               {"source", Align::left}});
  for (const ProfileNumber& number : profile.numbers) {
    table.add({number.path, number.value, number.relative_sd, number.provenance,
               number.citation == 0 ? "" : fmt::format("[{}]", number.citation)});
  }
  text += table.markdown();
  return text + (profile.citations.empty() ? "" : "\n" + citations_text(profile.citations));
}

nlohmann::ordered_json shown_json(const ProfileText& profile) {
  nlohmann::ordered_json json;
  json["kind"] = folder_of(profile.kind);
  json["name"] = profile.name;
  json["description"] = profile.description;
  json["values"] = nlohmann::ordered_json::array();
  for (const ProfileNumber& number : profile.numbers) {
    nlohmann::ordered_json entry{{"path", number.path}, {"value", number.value}};
    if (!number.provenance.empty()) {
      entry["provenance"] = number.provenance;
    }
    if (!number.relative_sd.empty()) {
      entry["relative_sd"] = number.relative_sd;
    }
    if (number.citation != 0) {
      entry["source"] = number.citation;
    }
    json["values"].push_back(std::move(entry));
  }
  json["sources"] = citations_json(profile.citations);
  return json;
}

void report_unknown_profile(const Argument& asked, const Library& library, Session& session) {
  std::vector<std::string> names;
  for (const ProfileKind kind : all_profile_kinds) {
    const std::vector<std::string> more = library.names(kind);
    names.insert(names.end(), more.begin(), more.end());
  }
  session.diagnostics().error(asked.span, fmt::format("no profile {}", backquoted(asked.text)),
                              did_you_mean(closest(asked.text, names)),
                              "`payoff profiles list` names them all");
}

// A name may belong to several kinds: all of them are shown.
ExitCode show_profile(const std::vector<Argument>& asked, const Arguments& arguments,
                      Session& session) {
  const Library library = find_library();
  std::string text;
  std::string csv =
      csv_line({"kind", "name", "key", "value", "relative_sd", "provenance", "source"});
  nlohmann::ordered_json json = json_envelope("profiles", session);
  json["profiles"] = nlohmann::ordered_json::array();
  for (const Argument& name : asked) {
    bool found = false;
    for (const ProfileKind kind : all_profile_kinds) {
      if (!library.has(kind, name.text)) {
        continue;
      }
      found = true;
      const ProfileText profile =
          profile_text(kind, name.text, {library, session.sources(), session.diagnostics()});
      text += (text.empty() ? "" : "\n") + shown_text(profile);
      json["profiles"].push_back(shown_json(profile));
      for (const ProfileNumber& n : profile.numbers) {
        csv +=
            csv_line({std::string(folder_of(kind)), name.text, n.path, n.value, n.relative_sd,
                      n.provenance, n.citation == 0 ? "" : profile.citations[n.citation - 1].text});
      }
    }
    if (!found) {
      report_unknown_profile(name, library, session);
    }
  }
  if (!session.diagnostics().has_errors()) {
    OutputFiles files;
    deliver({text, json.dump(2) + "\n", csv}, arguments, files, session);
  }
  return session.report();
}

ExitCode run_profiles(const Arguments& arguments, Session& session) {
  std::vector<Argument> words = arguments.positionals();
  if (words.empty()) {
    return list({all_profile_kinds.begin(), all_profile_kinds.end()}, arguments, session);
  }
  const Argument action = words.front();
  words.erase(words.begin());
  if (action.text == "show") {
    if (words.empty()) {
      session.diagnostics().error(action.span, "`payoff profiles show` needs a name", {},
                                  "`payoff profiles list` names them all");
      return session.report();
    }
    return show_profile(words, arguments, session);
  }
  if (action.text != "list") {
    report_unknown_name("list or show", action, {"list", "show"}, session);
    return session.report();
  }
  std::vector<ProfileKind> kinds;
  for (const Argument& word : words) {
    if (const auto kind = named_value("a kind of profile", word, kind_names(), session)) {
      kinds.push_back(*kind);
    }
  }
  if (session.diagnostics().has_errors()) {
    return session.report();
  }
  if (kinds.empty()) {
    kinds.assign(all_profile_kinds.begin(), all_profile_kinds.end());
  }
  return list(kinds, arguments, session);
}

}  // namespace

Command profiles_command() {
  return {"profiles",
          "lists the shipped profiles, or shows one with the source of every number",
          "payoff profiles list cluster\n  payoff profiles show dgx-h100",
          {"list [KIND] | show NAME", "what to do; without it, everything is listed", 0, 32},
          {json_option, csv_option},
          run_profiles};
}

}  // namespace payoff
