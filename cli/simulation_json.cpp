// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/input_json.hpp"
#include "cli/json_output.hpp"
#include "cli/prediction_report.hpp"
#include "cli/simulation_report.hpp"
#include "cli/step_json.hpp"
#include "cli/trust_json.hpp"

namespace payoff {
namespace {

using Json = nlohmann::ordered_json;

Json folding_json(const SimulationReport& report) {
  return {
      {"ranks", report.fold.ranks},
      {"listed_ranks", report.fold.listed},
      {"simulated_ranks", report.fold.places},
      {"links", report.fold.links},
      {"link_classes", report.fold.link_classes},
      {"sends", report.fold.sends},
      {"send_classes", report.fold.send_classes},
      {"not_folded_because", report.not_folded.empty() ? Json(nullptr) : Json(report.not_folded)}};
}

Json traffic_json(const sim::TrafficTime& traffic) {
  return {{"bytes", traffic.bytes.si},
          {"in_flight_seconds", traffic.busy.si},
          {"hidden_seconds", traffic.hidden().si},
          {"exposed_seconds", traffic.exposed.si},
          {"waiting_seconds", traffic.waiting.si}};
}

Json plan_json(const PlanSimulation& plan) {
  const sim::SimulatedStep& simulated = plan.simulated;
  Json json{{"label", plan.label}};
  json.update(step_json(simulated.prediction));
  json["estimate"] = {{"events", plan.estimate.events},
                      {"sends", plan.estimate.sends},
                      {"memory_bytes", plan.estimate.memory.si},
                      {"trace_bytes", plan.estimate.trace.si}};
  json["analytical_step_seconds"] = plan.analytical.step.si;
  json["last_stage"] = simulated.last_stage;
  json["ranks_end"] = {{"first_seconds", simulated.first_end.si},
                       {"mean_seconds", simulated.mean_end.si}};
  json["critical_path"] = Json::object();
  for (std::size_t c = 0; c < sim::cause_count; ++c) {
    // Overheads only where the job states any.
    if (static_cast<sim::Cause>(c) > sim::Cause::host && simulated.critical_path[c] == 0_s) {
      continue;
    }
    json["critical_path"][fmt::format("{}_seconds", name(static_cast<sim::Cause>(c)))] =
        simulated.critical_path[c].si;
  }
  json["traffic"] = {{"dp", traffic_json(simulated.dp)},
                     {"tp", traffic_json(simulated.tp)},
                     {"cp", traffic_json(simulated.cp)},
                     {"ep", traffic_json(simulated.ep)},
                     {"pp", traffic_json(simulated.pp)}};
  json["links"] = Json::array();
  for (const sim::LinkUse& link : simulated.links) {
    json["links"].push_back({{"name", link.name},
                             {"capacity_bytes_per_second", link.capacity.si},
                             {"bytes", link.bytes.si},
                             {"utilization_ratio", link.utilization},
                             {"max_delay_seconds", link.max_delay.si}});
  }
  json["max_memory_delay_seconds"] = Json::array();
  for (const Seconds delay : simulated.max_memory_delay) {
    json["max_memory_delay_seconds"].push_back(delay.si);
  }
  json["events"] = simulated.events;
  json["sends"] = simulated.sends;
  json["trace_hash"] = fmt::format("{:016x}", simulated.trace_hash);
  json["interrupted"] = simulated.interrupted;
  return json;
}

}  // namespace

std::string simulation_json(const SimulationReport& report, const ReadExperiment& read,
                            const Library& library, const Session& session) {
  Json json = json_envelope("simulate", session);
  json["experiment"] = experiment_json(read);
  json["profiles"] = profiles_json(library, session.sources(), read);
  json["headline"] = experiment_headline(report.experiment);
  json["trust"] = trust_json(report.trust);
  json["level"] = report.steps ? "steps" : "fluid";
  json["folding"] = folding_json(report);
  json["plans"] = Json::array();
  for (const PlanSimulation& plan : report.plans) {
    json["plans"].push_back(plan_json(plan));
  }
  return json.dump(2) + "\n";
}

}  // namespace payoff
