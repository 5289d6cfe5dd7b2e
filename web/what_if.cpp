// SPDX-License-Identifier: Apache-2.0
#include "web/what_if.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "model/node_kinds.hpp"
#include "study/scaled_job.hpp"
#include "web/experiment_fields.hpp"
#include "web/text_archive.hpp"

namespace payoff::web {

PAYOFF_FIELDS(ParameterChoice, name, min, max, integer)
PAYOFF_FIELDS(MethodChoice, plan, parameters)
PAYOFF_FIELDS(ModelChoice, profile, parameters, model)
PAYOFF_FIELDS(WhatIf, experiment, limits, band, models, methods)
PAYOFF_FIELDS(Knobs, dp, nic, bucket, model, method, parameters, codec_speed, draws, search_remedy)

namespace {

constexpr std::size_t most_draws = 4096;

// Before all else that is stored: another version of this program does not take it for its own.
constexpr std::string_view mark = "payoff-what-if-1";

void choose_method(const MethodChoice& choice, const std::vector<double>& parameters,
                   Experiment& job) {
  CompressionPlan plan = choice.plan;
  for (std::size_t i = 0; i < std::min(parameters.size(), choice.parameters.size()); ++i) {
    plan.method->parameters[choice.parameters[i].name] = parameters[i];
  }
  job.plans.push_back(std::move(plan));
}

// What cannot be written in a file either, and what a slider's ends rule out.
Problems check_knobs(const WhatIf& page, const Knobs& knobs) {
  Problems problems;
  const auto refuse = [&problems](const char* path, const char* message) {
    problems.push_back({path, message, {}});
  };
  if (knobs.model && *knobs.model >= page.models.size()) {
    refuse("model", "is none of those offered");
  }
  if (knobs.method && *knobs.method >= page.methods.size()) {
    refuse("compress", "is none of those offered");
  }
  if (!(knobs.codec_speed > 0)) {
    refuse("codec_speed", "is not positive");
  }
  if (knobs.draws > most_draws) {
    refuse("draws", "are too many");
  }
  return problems;
}

// Of the page's own plans those that the job cannot have on so many GPUs; where nothing is sent,
// the one that was chosen too.
void leave_out_impossible(std::size_t own, Experiment& job) {
  if (job.layout.data_ranks() == 1) {
    job.plans.resize(1);
    return;
  }
  std::vector<CompressionPlan> plans;
  for (std::size_t i = 0; i < job.plans.size(); ++i) {
    if (i == 0 || i >= own || problems_of_plan(job, i).empty()) {
      plans.push_back(job.plans[i]);
    }
  }
  job.plans = std::move(plans);
}

// Replicas as study/scaled_job has them, which does not say what is wrong with a job that there
// cannot be.
void scale(Experiment& job, int dp, std::size_t own, Problems& problems) {
  if (dp == 0 || dp == job.layout.dp) {
    return;
  }
  if (std::optional<Experiment> scaled = with_dp(job, dp)) {
    job = *std::move(scaled);
    leave_out_impossible(own, job);
    return;
  }
  job.layout.dp = dp;
  problems = check(job);
  if (problems.empty()) {
    problems.push_back({"layout.dp", "does not fill the nodes", {}});
  }
}

double gradient_elements(const Experiment& job) {
  return static_cast<double>(parameter_count(job.model));
}

}  // namespace

Answer answer(const WhatIf& page, const Knobs& knobs) {
  Answer result;
  result.problems = check_knobs(page, knobs);
  if (!result.problems.empty()) {
    return result;
  }
  Experiment job = page.experiment;
  if (knobs.nic > Bandwidth{}) {
    set_nic_rate(job.cluster, knobs.nic);
  }
  job.training.bucket = knobs.bucket > Bytes{} ? knobs.bucket : job.training.bucket;
  job.training.codec_speed *= knobs.codec_speed;
  if (knobs.model) {
    job.model = page.models[*knobs.model].model;
  }
  if (knobs.method) {
    choose_method(page.methods[*knobs.method], knobs.parameters, job);
  }
  scale(job, knobs.dp, page.experiment.plans.size(), result.problems);
  if (result.problems.empty()) {
    result.problems = check(job);
  }
  if (!result.problems.empty()) {
    return result;
  }
  result.gpus = job.cluster.gpus();
  result.nodes = job.cluster.nodes;
  result.gradient_bytes = gradient_elements(job) * element_size(job.training.gradient);
  AssessOptions options;
  options.limits = page.limits;
  options.band = page.band;
  options.draws = knobs.draws;
  options.search_remedy = knobs.search_remedy;
  result.payoff = assess(job, options);
  return result;
}

std::vector<int> offered_dp(const Experiment& experiment, int most_gpus) {
  std::set<int> offered{experiment.layout.dp};
  if (experiment.cluster.is_mixed()) {
    return {offered.begin(), offered.end()};
  }
  const ScalingStep step = scaling_step(experiment);
  const int gpus = step.gpus;
  for (int octave = 1; octave <= most_gpus / gpus; octave *= 2) {
    for (const int steps : {octave, octave + octave / 2}) {
      if (steps <= most_gpus / gpus) {
        offered.insert(steps * step.replicas);
      }
    }
  }
  return {offered.begin(), offered.end()};
}

std::string store(const WhatIf& page) {
  WhatIf copy = page;  // writing and reading walk through the same fields
  std::string name(mark);
  TextWriter writer;
  writer(name, copy);
  return std::move(writer).text();
}

namespace {

template <typename T>
bool read_all(TextReader& reader, T& value) {
  reader(value);
  return reader.good() && reader.at_end();
}

}  // namespace

std::optional<WhatIf> restore(std::string_view text) {
  TextReader reader(text);
  std::string name;
  reader(name);
  WhatIf page;
  const bool complete = name == mark && read_all(reader, page);
  return complete && check(page.experiment).empty() ? std::optional(std::move(page)) : std::nullopt;
}

std::optional<Knobs> restore_knobs(std::string_view text) {
  TextReader reader(text);
  Knobs knobs;
  return read_all(reader, knobs) ? std::optional(std::move(knobs)) : std::nullopt;
}

}  // namespace payoff::web
