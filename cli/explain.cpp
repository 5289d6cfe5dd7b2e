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
    entry["inserted"] = term.inserted;
    entry["part_equation"] = term.part_equation;
    entry["part_section"] = term.part_section;
    entry["parts"] = nlohmann::ordered_json::array();
    for (const ExplainedPart& part : term.parts) {
      entry["parts"].push_back({{"part", part.what},
                                {"count", part.count},
                                {"each_seconds", part.each.si},
                                {"numbers", part.numbers}});
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
  warn_of_unseen_state(read->cluster_state, {}, session);
  const CompressionPlan* plan = chosen_plan(arguments, read->experiment, session);
  if (plan == nullptr) {
    return session.report();
  }
  const PreparedExperiment prepared(read->experiment);
  std::vector<TermExplanation> terms = explain(prepared, *plan, read->facts);
  std::string text = experiment_headline(read->experiment) + "\n\n";
  if (question.term && question.term->text != whole_step) {
    const auto term = std::find_if(
        terms.begin(), terms.end(),
        [&question](const TermExplanation& each) { return each.term == question.term->text; });
    if (term == terms.end()) {
      std::vector<std::string> known;
      known.reserve(terms.size() + 1);
      for (const TermExplanation& each : terms) {
        known.emplace_back(each.term);
      }
      known.emplace_back(whole_step);
      report_unknown_name("a term of the step", *question.term, known, session);
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
