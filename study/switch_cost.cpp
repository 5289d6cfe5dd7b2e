// SPDX-License-Identifier: Apache-2.0
#include "study/switch_cost.hpp"

#include <map>
#include <string>
#include <vector>

#include "study/comparison.hpp"
#include "study/draws.hpp"
#include "study/spread.hpp"

namespace payoff {
namespace {

SwitchedJob job_of(const PreparedExperiment& prepared, const CompressionPlan& plan,
                   const Timing& step) {
  return {step.central, step.quantile(0.05), step.quantile(0.95),
          prepared.experiment().layout.global_batch(), prepared.predict(plan).memory.fits()};
}

// Of a gain that is a share of what the old job takes for the same samples.
std::optional<Seconds> won_back(Seconds cost, double gain_ratio) {
  return gain_ratio > 0 ? std::optional(cost / gain_ratio) : std::nullopt;
}

std::optional<double> steps_for(Seconds cost, Seconds gain) {
  return gain > 0_s ? std::optional(cost / gain) : std::nullopt;
}

void set_payback(const std::vector<Seconds>& old_times, const std::vector<Seconds>& new_times,
                 SwitchAnswer& answer) {
  std::vector<double> gains;
  std::vector<double> ratios;
  std::size_t faster = 0;
  for (std::size_t i = 0; i < old_times.size(); ++i) {
    const Seconds gain = old_times[i] - new_times[i];
    gains.push_back(gain / 1_s);
    ratios.push_back(gain / old_times[i]);
    faster += gain > 0_s ? 1U : 0U;
  }
  // The less is gained, the later it is won back.
  answer.steps_high = steps_for(answer.cost, quantile(gains, 0.05) * 1_s);
  answer.steps_low = steps_for(answer.cost, quantile(gains, 0.95) * 1_s);
  answer.after_high = won_back(answer.cost, quantile(ratios, 0.05));
  answer.after_low = won_back(answer.cost, quantile(ratios, 0.95));
  answer.probability = static_cast<double>(faster) / static_cast<double>(old_times.size());
}

}  // namespace

Problems check_switch(const Experiment& a, const Experiment& b) {
  Problems problems;
  const auto has_tables = [](const Experiment& experiment) {
    const auto* table = table_of(experiment.model);
    return table != nullptr && table->recommender;
  };
  if (has_tables(a) || has_tables(b)) {
    problems.push_back({"model",
                        "what moving the embedding tables of a recommender takes is not modelled",
                        "compare jobs of other models"});
  }
  if (name_of(a.model) != name_of(b.model)) {
    problems.push_back({"model", "is another one than that of A, " + name_of(a.model),
                        "a checkpoint goes on with the model that it was saved of"});
  }
  const auto state = [](const Experiment& job) {
    return job.training.optimizer_bytes_per_parameter -
           (element_size(job.training.precision) < 4_B ? 4_B : 0_B);
  };
  if (state(a) != state(b)) {
    problems.push_back({"training.optimizer", "keeps another state than that of A",
                        "a checkpoint goes on with the optimizer that it was saved of"});
  }
  return problems;
}

SwitchAnswer switch_cost(const Experiment& a, const CompressionPlan& plan_a, const Experiment& b,
                         const CompressionPlan& plan_b, const SwitchOptions& options) {
  const PreparedExperiment old_job(a);
  const PreparedExperiment new_job(b);
  SwitchAnswer answer;
  answer.shape_a = checkpoint_shape(old_job);
  answer.shape_b = checkpoint_shape(new_job);
  answer.save = transfer(save_traffic(answer.shape_a), options.storage);
  const bool as_saved = same_shards(answer.shape_a, answer.shape_b);
  answer.load =
      transfer(as_saved ? native_load_traffic(answer.shape_b) : atoms_load_traffic(answer.shape_b),
               options.storage);
  answer.restart = options.restart;
  answer.cost = answer.save.time + answer.restart + answer.load.time;
  if (!as_saved) {
    answer.conversion = conversion(answer.shape_a, options.storage, options.convert_nodes);
    answer.cost += answer.conversion->read.time + answer.conversion->write.time;
  }
  std::map<std::string, std::size_t> codecs;
  Ensemble ensemble(
      {uncertain_plan(old_job, plan_a, codecs), uncertain_plan(new_job, plan_b, codecs)},
      compute_sd(a));
  const Draw central{};
  const auto draws = make_draws(options.draws, options.seed, ensemble.codecs());
  std::vector<std::vector<Seconds>> drawn = sample_steps(ensemble, draws);
  answer.a = job_of(old_job, plan_a, {ensemble.step(0, central), drawn[0]});
  answer.b = job_of(new_job, plan_b, {ensemble.step(1, central), drawn[1]});
  const double batches = answer.b.samples / answer.a.samples;
  for (Seconds& time : drawn[0]) {
    time *= batches;
  }
  const Seconds before = batches * answer.a.step;
  answer.gain = before - answer.b.step;
  answer.steps = steps_for(answer.cost, answer.gain);
  answer.after = won_back(answer.cost, answer.gain / before);
  set_payback(drawn[0], drawn[1], answer);
  return answer;
}

}  // namespace payoff
