// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <nlohmann/json.hpp>

#include "cli/input_json.hpp"
#include "cli/json_output.hpp"
#include "cli/prediction_report.hpp"
#include "cli/run_report.hpp"
#include "cli/step_json.hpp"
#include "cli/table.hpp"

namespace payoff {
namespace {

using Json = nlohmann::ordered_json;

Json totals_json(const RunReport& report, Seconds time, Seconds low, Seconds high, Bytes sent) {
  const auto cost = report.cost_usd(time);
  return {{"time_seconds", time.si},
          {"time_low_seconds", low.si},
          {"time_high_seconds", high.si},
          {"sent_per_gpu_bytes", sent.si},
          {"gpu_hours", report.gpu_hours(time)},
          {"cost_usd", cost ? Json(*cost) : Json(nullptr)}};
}

Json step_kind_json(const std::optional<PhaseStep>& step) {
  return step ? Json{{"share_ratio", step->share},
                     {"step_seconds", step->step.si},
                     {"sent_per_gpu_bytes", step->sent.si}}
              : Json(nullptr);
}

Json phase_json(const RunReport& report, std::size_t place) {
  const RunPhase& phase = report.schedule().phases[place];
  const PhasePayoff& payoff = report.run.phases[place];
  Json json{{"name", phase.name},
            {"plan", payoff.label},
            {"iterations", phase.iterations},
            {"inflation_ratio", phase.inflation},
            {"steps", payoff.steps},
            {"local_steps", phase.local_steps},
            {"trigger_probability_ratio", phase.trigger_probability},
            {"refresh_plan", phase.refresh ? Json(payoff.refresh_label) : Json(nullptr)},
            {"refresh_every_steps", phase.refresh ? Json(phase.refresh->every) : Json(nullptr)},
            {"step_seconds", payoff.step.si},
            {"step_low_seconds", payoff.step_low.si},
            {"step_high_seconds", payoff.step_high.si}};
  json.update(totals_json(report, payoff.time, payoff.time_low, payoff.time_high, payoff.sent));
  json["sending"] = step_kind_json(payoff.sending);
  json["silent"] = step_kind_json(payoff.silent);
  json["refreshing"] = step_kind_json(payoff.refreshing);
  json["memory_bytes"] = payoff.memory.total().si;
  json["fits"] = payoff.memory.fits();
  json["against_uncompressed"] = comparison_json(payoff.against_uncompressed);
  add_extrapolated(report.uses(phase).extrapolated(), json);
  return json;
}

Json dense_json(const RunReport& report, const DenseRun& run, double steps) {
  Json json{{"steps", steps}};
  json.update(totals_json(report, run.time, run.time_low, run.time_high, run.sent));
  return json;
}

}  // namespace

std::string run_json(const RunReport& report, const Session& session) {
  const RunPayoff& run = report.run;
  Json json = json_envelope("run", session);
  json["experiment"] = experiment_json(report.read);
  json["profiles"] = profiles_json(report.library, session.sources(), report.read);
  json["draws"] = report.options.draws;
  json["seed"] = report.options.seed;
  json["band_ratio"] = report.options.band;
  json["headline"] = experiment_headline(report.read.experiment);
  json["iterations"] = run.iterations;
  json["phases"] = Json::array();
  for (std::size_t i = 0; i < run.phases.size(); ++i) {
    json["phases"].push_back(phase_json(report, i));
  }
  json["run"] = Json{{"steps", run.steps}};
  json["run"].update(totals_json(report, run.time, run.time_low, run.time_high, run.sent));
  json["run"]["fits"] = run.fits();
  json["run"]["against_uncompressed"] = comparison_json(run.against_uncompressed);
  json["run"]["against_remedy"] = comparison_json(run.against_remedy);
  json["uncompressed"] = dense_json(report, run.uncompressed, run.iterations);
  json["remedy"] = dense_json(report, run.with_remedy, run.iterations / run.remedy.batches);
  json["remedy"]["description"] = run.remedy.description;
  json["verdict"] = {{"word", name(run.verdict())}, {"text", run_verdict(report)}};
  return json.dump(2) + "\n";
}

std::string run_csv(const RunReport& report) {
  const auto n = [](double number) { return exact_number(number); };
  std::string text =
      csv_line({"phase", "plan", "steps", "step_seconds", "time_seconds", "time_low_seconds",
                "time_high_seconds", "sent_per_gpu_bytes", "gpu_hours", "cost_usd", "speedup"});
  const auto add = [&](const std::string& phase, const std::string& plan, double steps,
                       Seconds time, Seconds low, Seconds high, Bytes sent, double speedup) {
    const auto cost = report.cost_usd(time);
    text += csv_line({phase, plan, n(steps), n(time.si / steps), n(time.si), n(low.si), n(high.si),
                      n(sent.si), n(report.gpu_hours(time)), cost ? n(*cost) : "", n(speedup)});
  };
  const RunPayoff& run = report.run;
  for (std::size_t i = 0; i < run.phases.size(); ++i) {
    const PhasePayoff& phase = run.phases[i];
    const std::string& called = report.schedule().phases[i].name;
    add(called.empty() ? std::to_string(i + 1) : called, phase.label, phase.steps, phase.time,
        phase.time_low, phase.time_high, phase.sent, phase.against_uncompressed.speedup);
  }
  add("run", "", run.steps, run.time, run.time_low, run.time_high, run.sent,
      run.against_uncompressed.speedup);
  const DenseRun& dense = run.uncompressed;
  add("uncompressed", "none", run.iterations, dense.time, dense.time_low, dense.time_high,
      dense.sent, 1.0);
  const DenseRun& with = run.with_remedy;
  add("remedy", run.remedy.description, run.iterations / run.remedy.batches, with.time,
      with.time_low, with.time_high, with.sent, dense.time / with.time);
  return text;
}

}  // namespace payoff
