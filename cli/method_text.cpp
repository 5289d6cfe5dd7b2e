// SPDX-License-Identifier: Apache-2.0
#include "cli/method_text.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/table.hpp"
#include "model/units_text.hpp"
#include "profiles/document.hpp"

namespace payoff {
namespace {

// Of the file's keys, those that hold formulas, in the order in which they are shown.
constexpr std::array<std::string_view, 12> formula_keys{
    "parameters", "where", "rounds", "decode", "sent",  "backward",
    "dense",      "worth", "fits",   "state",  "saved", "wire"};

std::string note_text(const Node& node) {
  std::string line;
  for (const Entry& entry : node.entries) {
    line += (line.empty() ? "" : ", ") + entry.key + " " + entry.value.text;
  }
  return line;
}

void add_formulas(const Node& node, const std::string& path,
                  std::vector<std::pair<std::string, std::string>>& formulas) {
  switch (node.kind) {
    case Node::Kind::scalar:
      formulas.emplace_back(path, node.text);
      return;
    case Node::Kind::list:
      for (std::size_t i = 0; i < node.items.size(); ++i) {
        add_formulas(node.items[i], path + "." + std::to_string(i), formulas);
      }
      return;
    case Node::Kind::map:
      for (const Entry& entry : node.entries) {
        const bool bounds = path == "parameters";
        if (bounds) {
          formulas.emplace_back(path + "." + entry.key, note_text(entry.value));
        } else {
          add_formulas(entry.value, path + "." + entry.key, formulas);
        }
      }
      return;
    case Node::Kind::null:
      return;
  }
}

// Of one matrix; 0 where it stays dense.
double wire_ratio(const Method& method) {
  const ParameterTensor tensor{1536, 768, true};
  const CallCost cost = compress(method, {&tensor, 1}, 4_B, 16, 4);
  Bytes sent = cost.dense_message;
  for (const RoundCost& round : cost.rounds) {
    sent += round.message;
  }
  return sent / (static_cast<double>(tensor.elements()) * 4_B);
}

// Lines under one heading, or what their absence means.
std::string headed(std::string_view heading, const std::vector<std::string>& lines,
                   std::string_view none) {
  std::string text;
  for (const std::string& line : lines) {
    text += fmt::format("\n{:<16}{}", heading, line);
  }
  return lines.empty() ? fmt::format("\n{:<16}{}\n", heading, none) : text + "\n";
}

// Why no test holds it to a sourced number; empty where one does.
std::string unchecked_because(const MethodNotes& notes) {
  return notes.unchecked.empty() && notes.users_own ? "a file of your own: no test knows it"
                                                    : notes.unchecked;
}

std::string notes_text(const MethodNotes& notes) {
  std::vector<std::string> quality;
  quality.reserve(notes.quality.size());
  for (const MethodEvidence& evidence : notes.quality) {
    quality.push_back(evidence.says);
  }
  const std::string because = unchecked_because(notes);
  return headed("implemented in", notes.implementations,
                notes.users_own ? "whatever your file describes" : "none is known") +
         headed("model quality", quality, "nothing published is known") +
         (because.empty() ? "\nA test holds it to an independently sourced number.\n"
                          : headed("unchecked", {because}, ""));
}

}  // namespace

MethodText method_text(std::string_view name, const MethodProfile& read,
                       const ReadContext& context) {
  const Method& method = read.profile.value;
  MethodText text;
  text.name = name;
  text.description = read.profile.description;
  text.implementation = payoff::name(method.implementation);
  text.wire_ratio = wire_ratio(method);
  text.after_backward = method.after_backward;
  text.notes = read.notes;
  text.composes = compositions(method, read.notes);
  for (const Fact& fact : read.profile.facts) {
    if (fact.path == "formulas" || fact.path == "quality") {
      (void)cite(fact, text.citations);
    }
  }
  const auto document = context.library.load(ProfileKind::compression, name, std::nullopt,
                                             context.sources, context.diagnostics);
  for (const std::string_view key : formula_keys) {
    const Entry* entry = document ? document->root.find(key) : nullptr;
    if (entry != nullptr) {
      add_formulas(entry->value, std::string(key), text.formulas);
    }
  }
  for (const auto& [path, written] : text.formulas) {
    if (path.ends_with(".collective")) {
      text.collectives.push_back(written);
    }
  }
  return text;
}

std::string shown_text(const MethodText& method) {
  std::string text = fmt::format("{} · {}\n\n", method.name, method.description);
  text += fmt::format("class       {}\n", method.implementation);
  text += fmt::format("compresses  {}\n",
                      method.notes.traffic.empty()
                          ? "any traffic"
                          : fmt::format("{}", fmt::join(method.notes.traffic, ", ")));
  text += fmt::format("sends       {} of fp32 for a 1536 x 768 matrix, 16 workers in nodes of 4\n",
                      percent_text(method.wire_ratio));
  text += method.after_backward
              ? "            after backward, unless a plan says another `placement`\n\n"
              : "\n";
  Table formulas({{"formula", Align::left}, {"as written", Align::left}});
  for (const auto& [path, written] : method.formulas) {
    formulas.add({path, written});
  }
  text += formulas.markdown() + "\n";
  Table composes({{"composes with", Align::left}, {"", Align::left}});
  for (const auto& [feature, answer] : method.composes) {
    composes.add({feature, answer});
  }
  text += composes.markdown();
  text += notes_text(method.notes);
  return text + (method.citations.empty() ? "" : "\n" + citations_text(method.citations));
}

nlohmann::ordered_json shown_json(const MethodText& method) {
  nlohmann::ordered_json json;
  json["name"] = method.name;
  json["description"] = method.description;
  json["implementation"] = method.implementation;
  json["traffic"] = method.notes.traffic;
  json["collectives"] = method.collectives;
  json["wire_ratio"] = method.wire_ratio;
  const std::string because = unchecked_because(method.notes);
  json["checked"] = because.empty();
  json["unchecked_because"] = because;
  json["formulas"] = nlohmann::ordered_json::object();
  for (const auto& [path, written] : method.formulas) {
    json["formulas"][path] = written;
  }
  json["composes"] = nlohmann::ordered_json::object();
  for (const auto& [feature, answer] : method.composes) {
    json["composes"][feature] = answer;
  }
  json["implementations"] = method.notes.implementations;
  json["quality"] = nlohmann::ordered_json::array();
  for (const MethodEvidence& evidence : method.notes.quality) {
    json["quality"].push_back(evidence.says);
  }
  json["sources"] = citations_json(method.citations);
  return json;
}

}  // namespace payoff
