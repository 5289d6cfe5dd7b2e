// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/file_text.hpp"
#include "cli/json_output.hpp"
#include "cli/program.hpp"
#include "cli/result_differences.hpp"
#include "cli/result_kind.hpp"
#include "cli/sweep_lines.hpp"
#include "cli/table.hpp"

// payoff rerun: the command line of a result once more, by this program and with the files as they
// are now; and what is otherwise than it was: inputs, and numbers.

namespace payoff {
namespace {

using Json = nlohmann::ordered_json;

constexpr OptionSpec check_option{"--check", "", "exit status 3 where any value is not what it was",
                                  Takes::nothing};

// The words of a line as `payoff` writes it into results: quoted like for a shell.
std::optional<std::vector<std::string>> words_of(std::string_view line) {
  std::vector<std::string> words;
  bool quoted = false;
  bool in_word = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (!quoted && c == ' ') {
      in_word = false;
      continue;
    }
    if (!in_word) {
      words.emplace_back();
      in_word = true;
    }
    if (c == '\'') {
      quoted = !quoted;
    } else if (!quoted && c == '\\' && i + 1 < line.size()) {
      words.back() += line[++i];
    } else {
      words.back() += c;
    }
  }
  return quoted || words.empty() ? std::nullopt : std::optional(std::move(words));
}

// Without what it writes, and with all as JSON.
std::vector<std::string> without_outputs(std::vector<std::string> words, const Command& command) {
  SourceMap sources;
  Diagnostics ignored;
  const Arguments arguments =
      parse_arguments(command, std::span(words).subspan(2), 2, sources, ignored);
  std::vector<bool> dropped(words.size());
  for (const auto& [name, value] : arguments.outputs()) {
    const auto at = static_cast<std::size_t>(value.index);
    dropped[at] = true;
    if (!words[at].starts_with(name)) {
      dropped[at - 1] = true;
    }
  }
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!dropped[i] && words[i] != "--force") {
      kept.push_back(words[i]);
    }
  }
  kept.emplace_back("--json");
  return kept;
}

struct Rerun {
  Json then;
  Json now;
};

// `{file: digest}`, the experiment among them.
std::map<std::string, std::string> inputs_of(const Json& result) {
  std::map<std::string, std::string> digests;
  const auto add = [&digests](const std::string& name, const Json& of) {
    if (of.is_object() && of.contains("sha256") && of["sha256"].is_string()) {
      digests[name] = of["sha256"].get<std::string>();
    }
  };
  if (result.contains("experiment")) {
    add("the experiment", result["experiment"]);
  }
  if (result.contains("profiles") && result["profiles"].is_array()) {
    for (const Json& file : result["profiles"]) {
      if (file.is_object() && file.contains("file") && file["file"].is_string()) {
        add(file["file"].get<std::string>(), file);
      }
    }
  }
  return digests;
}

std::vector<std::string> changed_inputs(const Rerun& rerun) {
  const auto then = inputs_of(rerun.then);
  const auto now = inputs_of(rerun.now);
  std::vector<std::string> changed;
  for (const auto& [name, digest] : then) {
    const auto its = now.find(name);
    if (its == now.end()) {
      changed.push_back(name + " (no longer read)");
    } else if (its->second != digest) {
      changed.push_back(name);
    }
  }
  for (const auto& [name, digest] : now) {
    if (!then.contains(name)) {
      changed.push_back(name + " (not read then)");
    }
  }
  return changed;
}

std::string version_of(const Json& result) {
  return result.contains("tool") && result["tool"].is_object()
             ? result["tool"].value("version", std::string("unknown"))
             : "unknown";
}

std::string value_text(const Json& value) {
  return value.is_discarded() ? "not there"
         : value.is_string()  ? value.get<std::string>()
                              : value.dump();
}

std::string report_text(const Rerun& rerun, const ResultDifferences& differences) {
  constexpr std::size_t most_rows = 20;
  const std::string then = version_of(rerun.then);
  const std::string now = version_of(rerun.now);
  std::string text = rerun.then["command_line"].get<std::string>() + "\n\n";
  text += then == now ? "" : fmt::format("Made by version {}, again by {}.\n", then, now);
  const std::vector<std::string> changed = changed_inputs(rerun);
  for (const std::string& name : changed) {
    text += "Changed since: " + name + "\n";
  }
  text += changed.empty() ? "All inputs have the bytes that they had.\n" : "";
  if (differences.found.empty()) {
    return text + fmt::format("\nNothing differs: all {} values are what they were.\n",
                              differences.values);
  }
  Table table({{"value", Align::left}, {"then"}, {"now"}, {"change"}});
  for (std::size_t i = 0; i < std::min(most_rows, differences.found.size()); ++i) {
    const ValueDifference& each = differences.found[i];
    table.add({each.path, value_text(each.then), value_text(each.now),
               std::isfinite(each.size()) ? significant(100.0 * each.size()) + " %" : ""});
  }
  text += "\n" + table.markdown();
  if (differences.found.size() > most_rows) {
    text +=
        fmt::format("and {} more: --json has all of them\n", differences.found.size() - most_rows);
  }
  const auto largest =
      std::find_if(differences.found.begin(), differences.found.end(),
                   [](const ValueDifference& each) { return std::isfinite(each.size()); });
  return text +
         fmt::format(
             "\n{} of {} values differ{}.\n", differences.found.size(), differences.values,
             largest == differences.found.end()
                 ? ""
                 : fmt::format(", numbers by at most {} %", significant(100.0 * largest->size())));
}

std::string report_json(const Rerun& rerun, const ResultDifferences& differences,
                        const Session& session) {
  Json json = json_envelope("rerun", session);
  json["again"] = rerun.then["command_line"];
  json["then"] = {{"version", version_of(rerun.then)}};
  json["now"] = {{"version", version_of(rerun.now)}};
  json["changed_inputs"] = changed_inputs(rerun);
  json["values"] = differences.values;
  json["differences"] = Json::array();
  for (const ValueDifference& each : differences.found) {
    const auto shown = [](const Json& value) { return value.is_discarded() ? Json() : value; };
    json["differences"].push_back(
        {{"path", each.path}, {"then", shown(each.then)}, {"now", shown(each.now)}});
  }
  return json.dump(2) + "\n";
}

class Repeater {
 public:
  Repeater(const Argument& file, Session& session) : file_(file), session_(session) {}

  std::optional<Rerun> run() {
    Json then = parsed_line(contents_of(file_.text));
    if (!then.is_object() || !then.contains("command_line") || !then["command_line"].is_string()) {
      const bool sweep = std::string_view(file_.text).ends_with(".jsonl");
      refuse("is no result of payoff as JSON",
             sweep ? "of a sweep `payoff sweep ... -o FILE --resume` says whether its inputs are "
                     "the same"
                   : "`--json FILE` of a command writes one");
      return std::nullopt;
    }
    const auto words = words_of(then["command_line"].get<std::string>());
    const std::vector<Command> commands = all_commands();
    const auto command = std::find_if(commands.begin(), commands.end(), [&](const Command& each) {
      return words && words->size() > 1 && each.name == (*words)[1] && is_repeatable(each.name);
    });
    if (command == commands.end()) {
      refuse("holds a command line that is not run again", "only commands that write nothing are");
      return std::nullopt;
    }
    std::ostringstream out;
    std::ostringstream err;
    Console console{out, err};
    const ExitCode code = run_program(without_outputs(*words, *command), commands, console);
    Json now = parsed_line(out.str());
    if (code == ExitCode::bad_input || !now.is_object()) {
      session_.err() << err.str();
      refuse("is of a command line that fails now", "what it says stands above");
      return std::nullopt;
    }
    return Rerun{std::move(then), std::move(now)};
  }

 private:
  void refuse(std::string_view why, const std::string& help) {
    session_.diagnostics().error(file_.span, fmt::format("{} {}", backquoted(file_.text), why), {},
                                 help);
  }

  const Argument& file_;
  Session& session_;
};

ExitCode run_rerun(const Arguments& arguments, Session& session) {
  const Argument& file = arguments.positionals().front();
  session.reads(file.text);
  const std::optional<Rerun> rerun = Repeater(file, session).run();
  if (!rerun || session.diagnostics().has_errors()) {
    return session.report();
  }
  // What names the run and its inputs is told apart from what came out.
  const ResultDifferences differences = differences_of(
      rerun->then, rerun->now,
      {"schema", "kind", "tool", "command_line", "experiment", "experiments", "profiles"});
  OutputFiles files;
  deliver({report_text(*rerun, differences), report_json(*rerun, differences, session), {}},
          arguments, files, session);
  const ExitCode code = session.report();
  return code == ExitCode::success && arguments.has(check_option.name) && !differences.found.empty()
             ? ExitCode::check_failed
             : code;
}

}  // namespace

Command rerun_command() {
  return {
      "rerun",
      "runs the command line of a result again, and says what differs",
      "payoff rerun result.json",
      {"RESULT", "what `--json` of a command wrote", 1, 1},
      {check_option, json_option},
      run_rerun,
      "Files are read as they are now, from the folder that payoff is run in; what the command\n"
      "wrote is not written again. `payoff diff RESULT EXPERIMENT` tells causes apart.\n"};
}

}  // namespace payoff
