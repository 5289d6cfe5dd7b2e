// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/engine_option.hpp"
#include "cli/experiment_input.hpp"
#include "cli/explain_question.hpp"
#include "cli/explanation_text.hpp"
#include "cli/input_json.hpp"
#include "cli/json_output.hpp"
#include "cli/names.hpp"
#include "cli/option_values.hpp"
#include "cli/prediction_report.hpp"
#include "cli/profile_library.hpp"

// payoff explain: why a step takes as long as it does.

namespace payoff {
namespace {

constexpr OptionSpec plan_option{
    "--plan", "LABEL", "the strategy to explain; default: the first that compresses", Takes::value};

nlohmann::ordered_json explained_part(const ExplainedPart& part) {
  return {{"part", part.what},
          {"count", part.count},
          {"each_seconds", part.each.si},
          {"numbers", part.numbers}};
}

nlohmann::ordered_json explained_fact(const Fact& fact) {
  return {{"path", fact.path},
          {"value", fact.value_text},
          {"provenance", name_of(fact.kind)},
          {"citation", fact.citation},
          {"date", fact.date}};
}

nlohmann::ordered_json explained_message(const MessageUse& use) {
  return {{"message", name_of(use.kind)},    {"collective", name(use.collective)},
          {"ranks", use.group.ranks},        {"smallest_bytes", use.smallest.si},
          {"largest_bytes", use.largest.si}, {"extrapolated", use.extrapolated}};
}

template <typename Each, typename ToJson>
nlohmann::ordered_json list_json(const std::vector<Each>& items, ToJson as_json) {
  auto json = nlohmann::ordered_json::array();
  for (const Each& item : items) {
    json.push_back(as_json(item));
  }
  return json;
}

nlohmann::ordered_json explained_term(const TermExplanation& term) {
  const auto number_json = [](const InsertedNumber& number) {
    return nlohmann::ordered_json{
        {"symbol", number.symbol}, {"value", number.value}, {"meaning", number.meaning}};
  };
  const auto kernel_json = [](const KernelUse& use) { return to_json(use); };
  return {{"term", term.term},
          {"what", term.what},
          {"time_seconds", term.time.si},
          {"uncompressed_seconds", term.uncompressed.si},
          {"equation", term.equation},
          {"section", term.section},
          {"numbers", list_json(term.numbers, number_json)},
          {"facts", list_json(term.facts, explained_fact)},
          {"inserted", term.inserted},
          {"part_equation", term.part_equation},
          {"part_section", term.part_section},
          {"parts", list_json(term.parts, explained_part)},
          {"messages", list_json(term.messages, explained_message)},
          {"kernels", list_json(term.kernels, kernel_json)}};
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

// The one that was asked for; null where there is none of that name, which is reported.
const TermExplanation* chosen_term(const Argument& asked, const std::vector<TermExplanation>& terms,
                                   Session& session) {
  std::vector<std::string> known;
  known.reserve(terms.size() + 1);
  for (const TermExplanation& each : terms) {
    if (each.term == asked.text) {
      return &each;
    }
    known.push_back(each.term);
  }
  known.emplace_back(whole_step);
  report_unknown_name("a term of the step", asked, known, session);
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
  warn_of_unseen_state(read->cluster_state, {}, session);
  const CompressionPlan* plan = chosen_plan(arguments, read->experiment, session);
  if (plan == nullptr) {
    return session.report();
  }
  const PreparedExperiment prepared(read->experiment);
  std::vector<TermExplanation> terms = explain(prepared, *plan, read->facts);
  std::string text = experiment_headline(read->experiment) + "\n\n";
  if (question.term && question.term->text != whole_step) {
    const TermExplanation* term = chosen_term(*question.term, terms, session);
    if (term == nullptr) {
      return session.report();
    }
    text += term_text(*term, plan->label, read->experiment);
    terms = {TermExplanation(*term)};
  } else {
    text += overview(terms, plan->label, trust_in(prepared, read->facts));
  }
  nlohmann::ordered_json json = json_envelope("explain", session);
  json["experiment"] = experiment_json(*read);
  json["profiles"] = profiles_json(library, session.sources(), *read);
  json["plan"] = plan->label;
  json["terms"] = list_json(terms, explained_term);
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
