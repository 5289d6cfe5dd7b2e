// SPDX-License-Identifier: Apache-2.0
#include "cli/advice_report.hpp"

#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/input_json.hpp"
#include "cli/json_output.hpp"
#include "cli/prediction_report.hpp"
#include "cli/priced_uses.hpp"
#include "cli/step_json.hpp"
#include "cli/table.hpp"
#include "cli/verdict_text.hpp"
#include "model/units_text.hpp"
#include "profiles/method_notes.hpp"

namespace payoff {
namespace {

using Json = nlohmann::ordered_json;

std::string_view words_of(Traffic traffic) {
  switch (traffic) {
    case Traffic::tp_activations:
      return "sums of tensor parallelism";
    case Traffic::pp_activations:
      return "sends between stages";
    case Traffic::ep_dispatch:
      return "tokens to experts";
    case Traffic::ep_combine:
      return "tokens back from experts";
    case Traffic::dp_weights:
      return "gathers of weights";
    case Traffic::embeddings:
      return "vectors of embedding tables";
    case Traffic::dp_gradients:
      break;
  }
  return "gradients";
}

bool has_none(const TrafficOptions& kind) { return kind.options.empty() && kind.over_budget == 0; }

// Most jobs gather no weights, and have no experts and no embedding tables that ranks divide.
bool is_rare(Traffic traffic) {
  return traffic == Traffic::dp_weights || traffic == Traffic::ep_dispatch ||
         traffic == Traffic::ep_combine || traffic == Traffic::embeddings;
}

std::string options_text(const Advice& advice) {
  std::string text = "Ways to compress";
  for (const TrafficOptions& kind : advice.kinds) {
    if (is_rare(kind.traffic) && has_none(kind)) {
      continue;
    }
    text += fmt::format("{} {}: {}", &kind == advice.kinds.data() ? "" : ",",
                        words_of(kind.traffic), kind.options.size());
    text += kind.over_budget > 0 ? fmt::format(" ({} over the budget)", kind.over_budget) : "";
  }
  return text + fmt::format(". {} combinations with none, {}.\n", advice.combinations,
                            advice.is_exact
                                ? "all priced"
                                : fmt::format("{} priced, one kind changed at a time until none "
                                              "made the step shorter",
                                              advice.evaluated));
}

// Of gradients; empty where there was nothing to tell apart.
std::string buckets_text(const BucketAdvice& buckets, double band) {
  if (buckets.buckets == 0) {
    return "";
  }
  return fmt::format(
      "Gradients travel in {} buckets. {} ways to compress only some of them, or some by another "
      "method, {}{}.\n",
      buckets.buckets, buckets.evaluated, buckets.is_exact ? "all there are" : "are priced",
      buckets.is_taken
          ? ""
          : fmt::format(": none gains more than {} over all alike", percent_text(band)));
}

std::string_view what_is(const Advice& advice, std::size_t plan) {
  if (plan == 0) {
    return "nothing compressed";
  }
  if (plan != advice.fastest) {
    return "best plan as written";
  }
  return plan == advice.advised ? "advised plan" : "fastest plan";
}

std::string table_text(const Advice& advice) {
  Table table({{"what", Align::left},
               {"strategy", Align::left},
               {"step", Align::right},
               {"speedup", Align::right},
               {"vs best remedy", Align::right},
               {"verdict", Align::left}});
  const Payoff& payoff = advice.payoff;
  for (std::size_t i = 0; i < payoff.plans.size(); ++i) {
    const PlanPayoff& plan = payoff.plans[i];
    table.add({std::string(what_is(advice, i)), i == 0 ? "uncompressed" : plan.label,
               step_text(plan), i == 0 ? "1.00" : speedup_text(plan.against_uncompressed),
               speedup_text(plan.against_remedy),
               i == 0 ? "" : verdict_word(Payoff::verdict_of(plan))});
  }
  if (!payoff.remedy.description.empty()) {
    table.add({"best remedy", payoff.remedy.description, to_text(payoff.remedy.step_per_batch()),
               speedup_text(payoff.remedy_gain), "1.00", ""});
  }
  return table.markdown();
}

std::string verdict_line(const Advice& advice) {
  if (advice.advised == 0) {
    return "Compress nothing: " + reason_for_nothing(advice) + "\n";
  }
  const PlanPayoff& plan = advice.payoff.plans[advice.advised];
  const std::string gain = speedup_text(plan.against_remedy);
  return Payoff::verdict_of(plan) == Verdict::pays
             ? fmt::format("Compress as above: {} times as fast as the best job without.\n", gain)
             : fmt::format(
                   "Too close to call: the plan is {} times as fast as the best job "
                   "without.\n",
                   gain);
}

Json kinds_json(const Advice& advice) {
  Json kinds = Json::array();
  for (const TrafficOptions& kind : advice.kinds) {
    const bool has_tokens =
        kind.traffic == Traffic::ep_dispatch || kind.traffic == Traffic::ep_combine;
    if (is_rare(kind.traffic) && !has_tokens && has_none(kind)) {
      continue;
    }
    Json options = Json::array();
    for (const TrafficOption& option : kind.options) {
      options.push_back({{"strategy", option.plan.label},
                         {"wire_ratio", option.ratio},
                         {"bits_per_element", option.bits}});
    }
    kinds.push_back({{"traffic", name_of(kind.traffic)},
                     {"options", std::move(options)},
                     {"over_budget", kind.over_budget}});
  }
  return kinds;
}

Json compared_json(const AdviceReport& report, std::size_t place) {
  const PlanPayoff& plan = report.advice.payoff.plans[place];
  Json json{{"strategy", plan.label},
            {"step_seconds", plan.prediction.step.si},
            {"step_low_seconds", plan.step_low.si},
            {"step_high_seconds", plan.step_high.si},
            {"against_uncompressed", comparison_json(plan.against_uncompressed)},
            {"against_remedy", comparison_json(plan.against_remedy)}};
  const CompressionPlan& compared = report.advice.compared.plans[place];
  add_extrapolated(uses_of_plan(report.prepared, compared).extrapolated(), json);
  return json;
}

}  // namespace

std::string reason_for_nothing(const Advice& advice) {
  const std::string& remedy = advice.payoff.remedy.description;
  const std::string instead = remedy.empty() ? "Leave the job as it is." : "Use " + remedy + ".";
  if (advice.fastest == 0) {
    return "no way within the budget makes the step shorter. " + instead;
  }
  const PlanPayoff& plan = advice.payoff.plans[advice.fastest];
  return fmt::format("the fastest plan is {} times as fast as the best job without{}. {}",
                     speedup_text(plan.against_remedy),
                     plan.prediction.memory.fits() ? "" : ", and does not fit the memory", instead);
}

std::string advice_text(const AdviceReport& report) {
  const Advice& advice = report.advice;
  std::string text = experiment_headline(report.read.experiment) + "\n\n" + options_text(advice) +
                     buckets_text(advice.buckets, report.options.band) + "\n" + table_text(advice) +
                     "\n";
  text += fmt::format("(low to high) holds 90 % of the draws; gains within {} are none.\n",
                      percent_text(advice.payoff.band));
  if (const std::string beyond = extrapolation_sentence(uses_of_plans(report.prepared));
      !beyond.empty()) {
    text += beyond + "\n";
  }
  if (advice.advised > 0) {
    text += fmt::format("\ncompress:\n- \"{}\"\n", advice.compared.plans[advice.advised].label);
  }
  return text + "\n" + verdict_line(advice);
}

std::string advice_json(const AdviceReport& report, const Session& session) {
  const Advice& advice = report.advice;
  const AccuracyBudget& budget = report.options.budget;
  Json json = json_envelope("advise", session);
  json["experiment"] = experiment_json(report.read);
  json["profiles"] = profiles_json(report.library, session.sources(), report.read);
  json["budget"] = {{"most_ratio", budget.most_ratio},
                    {"least_bits", budget.least_bits},
                    {"inflation_ratio", budget.inflation}};
  json["band_ratio"] = advice.payoff.band;
  json["kinds"] = kinds_json(advice);
  json["combinations"] = advice.combinations;
  json["evaluated"] = advice.evaluated;
  json["exact"] = advice.is_exact;
  json["buckets"] = advice.buckets.buckets == 0 ? Json(nullptr)
                                                : Json{{"count", advice.buckets.buckets},
                                                       {"evaluated", advice.buckets.evaluated},
                                                       {"exact", advice.buckets.is_exact},
                                                       {"chosen", advice.buckets.is_taken}};
  json["compared"] = Json::array();
  for (std::size_t i = 0; i < advice.payoff.plans.size(); ++i) {
    json["compared"].push_back(compared_json(report, i));
  }
  json["remedy"] = advice.payoff.remedy.description;
  json["fastest"] =
      advice.fastest > 0 ? Json(advice.compared.plans[advice.fastest].label) : Json(nullptr);
  json["advised"] =
      advice.advised > 0 ? Json(advice.compared.plans[advice.advised].label) : Json(nullptr);
  return json.dump(2) + "\n";
}

}  // namespace payoff
