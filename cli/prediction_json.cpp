// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/break_even_text.hpp"
#include "cli/input_json.hpp"
#include "cli/names.hpp"
#include "cli/network_worth_text.hpp"
#include "cli/prediction_report.hpp"
#include "cli/step_json.hpp"
#include "cli/trust_json.hpp"
#include "cli/verdict_text.hpp"
#include "profiles/method_notes.hpp"

namespace payoff {
namespace {

using Json = nlohmann::ordered_json;

Json influences_json(const std::vector<Influence>& influences) {
  Json json = Json::array();
  for (const Influence& influence : influences) {
    json.push_back({{"parameter", name(influence.unknown)},
                    {"variance_share_ratio", influence.variance_share},
                    {"speedup_low", influence.speedup_low},
                    {"speedup_high", influence.speedup_high}});
  }
  return json;
}

Json obstacles_json(const PlanPayoff& plan, const PredictionReport& report) {
  const auto place = static_cast<std::size_t>(&plan - report.payoff.plans.data());
  Json json = Json::array();
  for (const Obstacle& obstacle : report.obstacles.at(place)) {
    json.push_back({{"feature", obstacle.feature}, {"answer", obstacle.answer}});
  }
  return json;
}

Json compresses_json(const CompressionPlan& plan) {
  Json json = Json::array();
  const auto add = [&](Traffic traffic, const Method& method, Json directions, Json layers) {
    json.push_back({{"traffic", name_of(traffic)},
                    {"method", method.name},
                    {"directions", std::move(directions)},
                    {"layers", std::move(layers)}});
  };
  const std::vector<const Method*> of_gradients = plan.gradient_methods();
  for (std::size_t method = 0; method < of_gradients.size(); ++method) {
    add(Traffic::dp_gradients, *of_gradients[method], nullptr, nullptr);
    if (plan.chooses_buckets()) {
      json.back()["buckets"] = buckets_text(plan.buckets_of(method));
    }
  }
  for (const ActivationCompression& of : plan.activations) {
    add(of.traffic, of.method, directions_text(of),
        of.blocks == BlockRange{} ? Json(nullptr) : Json(layers_text(of.blocks)));
  }
  if (plan.weights) {
    add(Traffic::dp_weights, plan.weights->method, nullptr, nullptr);
  }
  return json;
}

Json plan_json(const PlanPayoff& plan, const PredictionReport& report) {
  const std::vector<BreakEven>& break_evens = report.break_evens;
  Json json{{"label", plan.label}};
  json.update(step_json(plan.prediction));
  json["step_low_seconds"] = plan.step_low.si;
  json["step_high_seconds"] = plan.step_high.si;
  json["against_uncompressed"] = comparison_json(plan.against_uncompressed);
  json["against_sixteen_bit"] =
      plan.against_sixteen_bit ? comparison_json(*plan.against_sixteen_bit) : Json(nullptr);
  json["against_remedy"] = comparison_json(plan.against_remedy);
  const bool compresses = &plan != &report.payoff.plans.front();
  json["verdict"] = compresses ? Json(name(Payoff::verdict_of(plan))) : Json(nullptr);
  const auto entry =
      std::find_if(break_evens.begin(), break_evens.end(),
                   [&](const BreakEven& other) { return other.label == plan.label; });
  json["decided_by"] = influences_json(plan.decided_by);
  json["break_even"] = entry == break_evens.end() ? Json(nullptr) : break_even_json(*entry);
  json["obstacles"] = obstacles_json(plan, report);
  const auto place = static_cast<std::size_t>(&plan - report.payoff.plans.data());
  json["compresses"] = compresses_json(report.read.experiment.plans.at(place));
  json["training"] = training_json(report.read.experiment, plan.prediction.step, report.training);
  return json;
}

Json nearest_json(const PredictionReport& report) {
  if (!report.nearest) {
    return nullptr;
  }
  const FittingLayout& nearest = *report.nearest;
  return {{"changes", nearest.changes},
          {"step_seconds", nearest.step.si},
          {"memory_bytes", nearest.memory.total().si}};
}

Json variant_json(const Variant& variant) {
  Json json{{"description", variant.description}};
  json.update(step_json(variant.prediction));
  json["batches"] = variant.batches;
  return json;
}

Json engines_json(const PredictionReport& report) {
  Json json = Json::array();
  for (const EngineAnswers& engine : report.engines) {
    Json entry{{"engine", name(engine.engine)},
               {"citation", citation(engine.engine)},
               {"plans", Json::array()}};
    for (std::size_t i = 0; i < engine.plans.size(); ++i) {
      const EngineAnswer& answer = engine.plans[i];
      Json plan{{"label", report.read.experiment.plans[i].label}};
      if (answer.prediction) {
        plan.update(step_json(*answer.prediction));
        if (!answer.reason.empty()) {
          plan["note"] = answer.reason;
        }
      } else {
        plan["reason"] = answer.reason;
      }
      entry["plans"].push_back(std::move(plan));
    }
    json.push_back(std::move(entry));
  }
  return json;
}

Json disagreement_json(const Conditioning& seen) {
  if (!seen.disagreement) {
    return nullptr;
  }
  return {{"part", name_of(seen.disagreement->part)},
          {"predicted_seconds", seen.disagreement->predicted.si},
          {"factor", seen.disagreement->factor}};
}

Json measurements_json(const Conditioning& seen) {
  Json json = Json::array();
  const auto time = [](const std::optional<Seconds>& value) {
    return value ? Json(value->si) : Json(nullptr);
  };
  for (const ObservedStep& each : seen.observed) {
    json.push_back({{"dp", each.dp},
                    {"step_seconds", each.observation.step.si},
                    {"step_before_seconds", each.before.si},
                    {"step_after_seconds", each.after.si},
                    {"exposed_seconds", time(each.observation.exposed)},
                    {"exposed_before_seconds", time(each.exposed_before)},
                    {"exposed_after_seconds", time(each.exposed_after)}});
  }
  return json;
}

Json runs_json(const Conditioning& seen) {
  Json json = Json::array();
  for (const ObservedSizes& each : seen.sizes) {
    json.push_back({{"file", each.file},
                    {"collective", name(each.collective)},
                    {"ranks", each.group.ranks},
                    {"nodes", each.group.nodes()},
                    {"first_bytes", each.first.si},
                    {"last_bytes", each.last.si},
                    {"sizes", each.count},
                    {"noise_ratio", each.noise},
                    {"before_ratio", each.before},
                    {"after_ratio", each.after}});
  }
  return json;
}

// In standard deviations of the profiles; before, all of them are 0 and 1.
Json parameters_json(const Belief& belief) {
  Json json = Json::array();
  const Belief apart = with_inside_apart(belief);
  const Latents left = deviations(apart);
  for (std::size_t i = 0; i < (apart.tells_inside ? all_latents : latent_count); ++i) {
    json.push_back({{"unknown", latent_name(i)},
                    {"mean_sigmas", apart.mean.at(i)},
                    {"left_sigmas", left.at(i)}});
  }
  return json;
}

Json observed_json(const Payoff& payoff) {
  if (!payoff.observed) {
    return nullptr;
  }
  const Conditioning& seen = *payoff.observed;
  return {{"step_before_seconds", seen.step_before.si},
          {"step_after_seconds", seen.step_after.si},
          {"sigmas", seen.sigmas},
          {"disagrees", seen.disagrees()},
          {"widening_ratio", seen.widening},
          {"disagreement", disagreement_json(seen)},
          {"width_before_ratio", seen.width_before},
          {"width_after_ratio", seen.width_after},
          {"measurements", measurements_json(seen)},
          {"collectives", runs_json(seen)},
          {"parameters", parameters_json(seen.belief)}};
}

}  // namespace

std::string prediction_json(const PredictionReport& report, const Session& session) {
  Json json = json_envelope("predict", session);
  json["experiment"] = experiment_json(report.read);
  json["profiles"] = profiles_json(report.library, session.sources(), report.read);
  json["draws"] = report.options.draws;
  json["seed"] = report.options.seed;
  json["band_ratio"] = report.options.band;
  json["headline"] = experiment_headline(report.read.experiment);
  json["plans"] = Json::array();
  for (const PlanPayoff& plan : report.payoff.plans) {
    json["plans"].push_back(plan_json(plan, report));
  }
  json["sixteen_bit"] =
      report.payoff.sixteen_bit ? variant_json(*report.payoff.sixteen_bit) : Json(nullptr);
  json["remedy"] = variant_json(report.payoff.remedy);
  json["remedy"]["against_uncompressed"] = comparison_json(report.payoff.remedy_gain);
  json["engines"] = engines_json(report);
  json["nearest_layout_that_fits"] = nearest_json(report);
  json["network_worth"] = network_worth_json(report);
  json["observed"] = observed_json(report.payoff);
  json["trust"] = trust_json(report.trust);
  json["verdict"] = {{"word", name(report.payoff.overall_verdict())},
                     {"text", verdict_sentence(report.payoff, report.break_evens) +
                                  obstacle_clause(report.payoff, report.obstacles)}};
  return json.dump(2) + "\n";
}

}  // namespace payoff
