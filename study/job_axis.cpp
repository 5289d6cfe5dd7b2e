// SPDX-License-Identifier: Apache-2.0
#include "study/job_axis.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "model/groups.hpp"
#include "study/scaled_job.hpp"
#include "study/spread.hpp"

namespace payoff {

Seconds central_step(const StepPlan& plan, const Experiment& experiment, const Latents& mean) {
  if (mean == Latents{}) {
    return evaluate(plan).step;
  }
  return Ensemble({{plan}}, compute_sd(experiment)).step(0, {mean, {}});
}

JobAxis::JobAxis(Make make, Change rival, Latents mean)
    : make_(std::move(make)), rival_(rival), mean_(mean) {}

JobAxis::At& JobAxis::at(double x) {
  const auto [entry, is_new] = cache_.try_emplace(x);
  if (is_new) {
    if (std::optional<Experiment> experiment = make_(x)) {
      entry->second.prepared = std::make_unique<PreparedExperiment>(*std::move(experiment));
    }
  }
  return entry->second;
}

std::optional<Seconds> JobAxis::step(std::size_t plan, double x) {
  At& here = at(x);
  if (!here.prepared || plan >= here.prepared->experiment().plans.size()) {
    return std::nullopt;
  }
  const auto [entry, is_new] = here.steps.try_emplace(plan);
  if (is_new) {
    const Experiment& experiment = here.prepared->experiment();
    entry->second = central_step(here.prepared->plan(experiment.plans[plan]), experiment, mean_);
  }
  return entry->second;
}

std::optional<Seconds> JobAxis::rival_step(double x) {
  if (rival_ == Change{}) {
    return step(0, x);
  }
  At& here = at(x);
  if (here.prepared && !here.rival) {
    const Experiment& experiment = here.prepared->experiment();
    const Variant variant = uncompressed_variant(experiment, rival_);
    here.rival = central_step(variant.plan, experiment, mean_) / variant.batches;
  }
  return here.rival;
}

double JobAxis::gain(std::size_t plan, double x) {
  const std::optional<Seconds> mine = step(plan, x);
  const std::optional<Seconds> other = rival_step(x);
  return mine && other ? *other / *mine - 1.0 : -1.0;
}

JobAxis::Make bandwidth_axis(const Experiment& experiment) {
  return [&experiment](double x) -> std::optional<Experiment> {
    Experiment result = experiment;
    result.cluster.nic = {x};
    return result;
  };
}

JobAxis::Make replica_axis(const Experiment& experiment) {
  return [&experiment](double x) {
    return with_dp(experiment,
                   static_cast<int>(std::lround(x)) * scaling_step(experiment).replicas);
  };
}

Signature bandwidth_choices(const Experiment& experiment) {
  const PreparedExperiment prepared(experiment);
  std::set<std::tuple<Collective, Bytes>> messages;
  for (const CompressionPlan& compression : experiment.plans) {
    const StepPlan plan = prepared.plan(compression);
    for (const BucketKind& kind : plan.kinds) {
      for (const BucketRound& round : kind.rounds) {
        messages.emplace(round.message.collective, round.message.size);
      }
    }
  }
  return [cluster = experiment.cluster,
          group = data_group(experiment.layout, experiment.cluster.gpus_per_node),
          messages = std::move(messages)](double x) {
    Cluster at_x = cluster;
    at_x.nic = {x};
    const CollectiveModel network(at_x, group);
    std::vector<int> choices;
    choices.reserve(messages.size());
    for (const auto& [collective, size] : messages) {
      const CollectivePrice price = network.price(collective, size);
      choices.push_back(
          (static_cast<int>(price.algorithm) * protocol_count + static_cast<int>(price.protocol)) *
              1024 +
          price.channels);
    }
    return choices;
  };
}

}  // namespace payoff
