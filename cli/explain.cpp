// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/experiment_input.hpp"
#include "cli/explain_question.hpp"
#include "cli/explanation.hpp"
#include "cli/input_json.hpp"
#include "cli/json_output.hpp"
#include "cli/names.hpp"
#include "cli/option_values.hpp"
#include "cli/prediction_report.hpp"
#include "cli/profile_library.hpp"
#include "cli/profile_text.hpp"
#include "cli/table.hpp"
#include "model/units_text.hpp"

// payoff explain: why a step takes as long as it does.

namespace payoff {
namespace {

constexpr OptionSpec plan_option{
    "--plan", "LABEL", "the strategy to explain; default: the first that compresses", Takes::value};

std::string overview(const std::vector<TermExplanation>& terms, const std::string& label,
                     const Trust& trust) {
  const bool compressed = label != "none";
  std::vector<Column> columns{{"term", Align::left}, {"uncompressed [ms]", Align::right}};
  if (compressed) {
    columns.push_back({label + " [ms]", Align::right});
  }
  columns.push_back({"equation", Align::left});
  Table table(columns);
  Seconds total{};
  Seconds baseline{};
  for (const TermExplanation& term : terms) {
    total += term.time;
    baseline += term.uncompressed;
    std::vector<std::string> row{term.term, fixed(term.uncompressed / 1_ms, 2)};
    if (compressed) {
      row.push_back(fixed(term.time / 1_ms, 2));
    }
    row.push_back(term.equation);
    table.add(std::move(row));
  }
  std::vector<std::string> sum{"step", fixed(baseline / 1_ms, 2)};
  if (compressed) {
    sum.push_back(fixed(total / 1_ms, 2));
  }
  sum.emplace_back("sum of all");
  table.add(std::move(sum));
  std::string text = table.markdown() + "\n";
  if (!trust.assumed.empty()) {
    text += fmt::format("{} of {} numbers are assumed:", trust.assumed.size(), trust.numbers);
    for (const Fact& fact : trust.assumed) {
      text += fmt::format("\n  {} = {}", fact.path, fact.value_text);
      // A law that others measured on other hardware: "transferred from a100-sxm-40".
      if (fact.citation.starts_with("transferred from ")) {
        text += fmt::format(" ({})", fact.citation.substr(0, fact.citation.find(':')));
      }
    }
    text += "\n";
  }
  for (const MessageUse& use : trust.messages) {
    if (use.extrapolated) {
      text += fmt::format("Extrapolated: {} of {} ({} of {} to {} on {} ranks)\n",
                          name_of(use.kind), use.plan, name(use.collective), to_text(use.smallest),
                          to_text(use.largest), use.group.ranks);
    }
  }
  std::size_t others = 0;
  for (const KernelUse& use : trust.kernels) {
    if (!use.extrapolated()) {
      continue;
    }
    if (use.plan.empty() || use.plan == label) {
      text += fmt::format("Extrapolated: {}\n", sentence(use));
    } else {
      ++others;
    }
  }
  if (others > 0) {
    text +=
        fmt::format("{} kinds of kernels of other strategies are extrapolated: --plan\n", others);
  }
  return text + "`payoff explain EXPERIMENT TERM` shows the numbers of one term.\n";
}

std::string messages_text(const TermExplanation& term, const Experiment& experiment) {
  if (term.messages.empty()) {
    return {};
  }
  Table table({{"message", Align::left},
               {"collective", Align::left},
               {"count", Align::right},
               {"ranks", Align::right},
               {"a node", Align::right},
               {"size", Align::right},
               {"alone", Align::right},
               {"chosen", Align::left},
               {"", Align::left}});
  for (const MessageUse& use : term.messages) {
    const CollectiveModel model(experiment.cluster, use.group);
    std::vector<Bytes> sizes{use.smallest};
    if (use.largest > use.smallest) {
      sizes.push_back(use.largest);
    }
    for (const Bytes size : sizes) {
      const CollectivePrice price = model.price(use.collective, size);
      table.add({std::string(name_of(use.kind)), std::string(name(use.collective)),
                 std::to_string(use.count), std::to_string(use.group.ranks),
                 std::to_string(use.group.ranks_per_node), to_text(size), to_text(price.time),
                 fmt::format("{}/{}", name(price.algorithm), name(price.protocol)),
                 price.extrapolated ? "extrapolated" : ""});
    }
  }
  return "\nMessages (smallest and largest):\n\n" + table.markdown();
}

std::string kernels_text(const TermExplanation& term) {
  if (term.kernels.empty()) {
    return {};
  }
  Table table({{"kernels", Align::left},
               {"work in one", Align::left},
               {"measured on this GPU", Align::left},
               {"", Align::left}});
  for (const KernelUse& use : term.kernels) {
    table.add({use.kernel, range_text(use.used), range_text(use.measured),
               use.extrapolated() ? "extrapolated" : ""});
  }
  return "\nKernels, and those that their law was fitted to:\n\n" + table.markdown();
}

std::string facts_text(const TermExplanation& term) {
  if (term.facts.empty()) {
    return {};
  }
  std::vector<Citation> citations;
  Table table({{"number", Align::left},
               {"value", Align::left},
               {"±", Align::right},
               {"from", Align::left},
               {"source", Align::left}});
  for (const Fact& fact : term.facts) {
    const std::size_t citation = cite(fact, citations);
    table.add({fact.path, fact.value_text, fact.relative_sd ? percent_text(*fact.relative_sd) : "",
               std::string(name_of(fact.kind)),
               citation == 0 ? "" : fmt::format("[{}]", citation)});
  }
  return "\n" + table.markdown() + "\n" + citations_text(citations);
}

std::string term_text(const TermExplanation& term, const std::string& label,
                      const Experiment& experiment) {
  std::string text = fmt::format("{}: {}\n\n  {} = {}   (docs/model.md, {})\n", term.term,
                                 term.what, term.term, term.equation, term.section);
  text += fmt::format("  {}: {}", label == "none" ? "uncompressed" : label, to_text(term.time));
  text +=
      label == "none" ? "\n\n" : fmt::format(", uncompressed: {}\n\n", to_text(term.uncompressed));
  Table table({{"symbol", Align::left}, {"value", Align::right}, {"meaning", Align::left}});
  for (const InsertedNumber& number : term.numbers) {
    table.add({number.symbol, number.value, number.meaning});
  }
  return text + table.markdown() + messages_text(term, experiment) + kernels_text(term) +
         facts_text(term);
}

nlohmann::ordered_json terms_json(const std::vector<TermExplanation>& terms) {
  auto json = nlohmann::ordered_json::array();
  for (const TermExplanation& term : terms) {
    nlohmann::ordered_json entry{{"term", term.term},
                                 {"what", term.what},
                                 {"time_seconds", term.time.si},
                                 {"uncompressed_seconds", term.uncompressed.si},
                                 {"equation", term.equation},
                                 {"section", term.section},
                                 {"numbers", nlohmann::ordered_json::array()},
                                 {"facts", nlohmann::ordered_json::array()}};
    for (const InsertedNumber& number : term.numbers) {
      entry["numbers"].push_back(
          {{"symbol", number.symbol}, {"value", number.value}, {"meaning", number.meaning}});
    }
    for (const Fact& fact : term.facts) {
      entry["facts"].push_back({{"path", fact.path},
                                {"value", fact.value_text},
                                {"provenance", name_of(fact.kind)},
                                {"citation", fact.citation},
                                {"date", fact.date}});
    }
    entry["messages"] = nlohmann::ordered_json::array();
    for (const MessageUse& use : term.messages) {
      entry["messages"].push_back({{"message", name_of(use.kind)},
                                   {"collective", name(use.collective)},
                                   {"ranks", use.group.ranks},
                                   {"smallest_bytes", use.smallest.si},
                                   {"largest_bytes", use.largest.si},
                                   {"extrapolated", use.extrapolated}});
    }
    entry["kernels"] = nlohmann::ordered_json::array();
    for (const KernelUse& use : term.kernels) {
      entry["kernels"].push_back(to_json(use));
    }
    json.push_back(std::move(entry));
  }
  return json;
}

const CompressionPlan* chosen_plan(const Arguments& arguments, const Experiment& experiment,
                                   Session& session) {
  const auto label = arguments.value(plan_option.name);
  if (!label) {
    return &experiment.plans[experiment.plans.size() > 1 ? 1 : 0];
  }
  std::vector<std::string> known;
  for (const CompressionPlan& plan : experiment.plans) {
    if (plan.label == label->text) {
      return &plan;
    }
    known.push_back(plan.label);
  }
  report_unknown_name("a strategy of this experiment", *label, known, session);
  return nullptr;
}

ExitCode run_explain(const Arguments& arguments, Session& session) {
  const Library library = find_library();
  const ExplainQuestion question = read_explain_question(arguments);
  const auto read = read_experiment_input(arguments, question.file, library, session);
  if (!read) {
    return session.report();
  }
  warn_of_default_batch(*read, session);
  const CompressionPlan* plan = chosen_plan(arguments, read->experiment, session);
  if (plan == nullptr) {
    return session.report();
  }
  const PreparedExperiment prepared(read->experiment);
  std::vector<TermExplanation> terms = explain(prepared, *plan, read->facts);
  std::string text = experiment_headline(read->experiment) + "\n\n";
  if (question.term && question.term->text != whole_step) {
    std::vector<std::pair<std::string, TermExplanation>> known;
    known.reserve(terms.size());
    for (TermExplanation& term : terms) {
      known.emplace_back(term.term, std::move(term));
    }
    const auto term = named_value("a term of the step", *question.term, known, session);
    if (!term) {
      return session.report();
    }
    text += term_text(*term, plan->label, read->experiment);
    terms = {*term};
  } else {
    text += overview(terms, plan->label, trust_in(prepared, read->facts));
  }
  nlohmann::ordered_json json = json_envelope("explain", session);
  json["experiment"] = experiment_json(*read);
  json["profiles"] = profiles_json(library, session.sources(), *read);
  json["plan"] = plan->label;
  json["terms"] = terms_json(terms);
  OutputFiles files;
  deliver({text, json.dump(2) + "\n", {}}, arguments, files, session);
  return session.report();
}

}  // namespace

Command explain_command() {
  return {"explain",
          "shows every term of a step: equation, numbers, sources",
          "payoff explain examples/01-resnet50-v100/experiment.yaml exposed_dp",
          {"EXPERIMENT [TERM]", "an experiment file, and one term of the step", 0, 2},
          experiment_options({plan_option, json_option}),
          run_explain,
          experiment_details};
}

}  // namespace payoff
