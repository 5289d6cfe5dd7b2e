// SPDX-License-Identifier: Apache-2.0
#include "study/job_axis.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "model/groups.hpp"
#include "model/node_kinds.hpp"
#include "study/observed.hpp"
#include "study/scaled_job.hpp"
#include "study/spread.hpp"

namespace payoff {

namespace {

using Messages = std::set<std::tuple<Collective, Bytes>>;

// Of the gradients, under all plans.
Messages gradient_messages(const Experiment& experiment) {
  const PreparedExperiment prepared(experiment);
  Messages messages;
  for (const CompressionPlan& compression : experiment.plans) {
    const StepPlan plan = prepared.plan(compression);
    for (const BucketKind& kind : plan.kinds) {
      for (const BucketRound& round : kind.rounds) {
        messages.emplace(round.message.collective, round.message.size);
      }
    }
  }
  return messages;
}

// What an end of the axis of bandwidths is looked for with: the job's own messages, and others of
// all usual sizes, which a remedy, another layout or another number of GPUs may have.
Messages probed_messages(const Experiment& experiment) {
  Messages messages = gradient_messages(experiment);
  for (const Collective collective : {Collective::all_reduce, Collective::all_gather}) {
    for (Bytes size = 64_KiB; size <= 1_GiB; size *= 2) {
      messages.emplace(collective, size);
    }
  }
  return messages;
}

std::vector<Seconds> message_times(const Cluster& cluster, const Group& group,
                                   const Messages& messages) {
  const CollectiveModel network(cluster, group);
  std::vector<Seconds> times;
  times.reserve(messages.size());
  for (const auto& [collective, size] : messages) {
    times.push_back(network.price(collective, size).time);
  }
  return times;
}

// Sockets and NICs are stages of one pipeline, which is never quite as fast as the slower one.
constexpr double noticeable = 1e-3;

bool noticeably_longer(Seconds a, Seconds b) { return a > (1 + noticeable) * b; }

// Both ways: a library that chooses by the line rate may choose worse where nodes carry no more.
bool alike(const std::vector<Seconds>& times, const std::vector<Seconds>& others) {
  return std::equal(times.begin(), times.end(), others.begin(), [](Seconds a, Seconds b) {
    return !noticeably_longer(a, b) && !noticeably_longer(b, a);
  });
}

}  // namespace

std::vector<double> ascending(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

JobAxis::JobAxis(Make make, const std::vector<CompressionPlan>& plans,
                 std::optional<RemedyLimits> rivals, Latents mean)
    : make_(std::move(make)), plans_(&plans), rivals_(rivals), mean_(mean) {}

JobAxis::At& JobAxis::at(double x) {
  constexpr std::size_t most_layers = 1000;  // of jobs that are kept
  const auto [entry, is_new] = cache_.try_emplace(x);
  At& here = entry->second;
  if (is_new) {
    if (std::optional<Experiment> experiment = make_(x)) {
      experiment->plans.erase(experiment->plans.begin() + 1, experiment->plans.end());
      here.prepared = std::make_unique<PreparedExperiment>(*std::move(experiment));
      if (here.prepared->workload().layers.size() > most_layers) {
        time_all(here);
      }
    }
  }
  return here;
}

void JobAxis::time_all(At& here) {
  for (std::size_t plan = 0; plan < plans_->size(); ++plan) {
    here.steps.emplace(plan, timed(plan, *here.prepared));
  }
  if (rivals_) {
    here.rival = timed_remedy(*here.prepared);
  }
  here.prepared.reset();
}

std::optional<JobAxis::Timed> JobAxis::timed(std::size_t plan,
                                             const PreparedExperiment& job) const {
  const Experiment& experiment = job.experiment();
  const CompressionPlan& compression = (*plans_)[plan];
  if (plan > 0 && !problems_of_plan(experiment, compression).empty()) {
    return std::nullopt;
  }
  const StepPrediction prediction = job.predict(compression);
  return Timed{
      mean_ == Latents{} ? prediction.step : central_step(job.plan(compression), experiment, mean_),
      exposed_communication(prediction.waterfall), prediction.memory.fits()};
}

JobAxis::Timed JobAxis::timed_remedy(const PreparedExperiment& job) const {
  const Variant remedy = best_remedy(job, *rivals_, mean_);
  return {central_step(remedy.plan, job.experiment(), mean_) / remedy.batches,
          exposed_communication(remedy.prediction.waterfall) / remedy.batches,
          remedy.prediction.memory.fits()};
}

std::optional<JobAxis::Timed> JobAxis::timed(std::size_t plan, double x) {
  At& here = at(x);
  if (here.prepared && !here.steps.contains(plan)) {
    here.steps.emplace(plan, timed(plan, *here.prepared));
  }
  const auto known = here.steps.find(plan);
  return known != here.steps.end() ? known->second : std::nullopt;
}

bool JobAxis::is_possible(std::size_t plan, double x) const {
  const std::optional<Experiment> job = make_(x);
  return job && (plan == 0 || problems_of_plan(*job, (*plans_)[plan]).empty());
}

std::optional<Seconds> JobAxis::step(std::size_t plan, double x) {
  const std::optional<Timed> found = timed(plan, x);
  return found ? std::optional(found->step) : std::nullopt;
}

std::optional<Seconds> JobAxis::exposed(std::size_t plan, double x) {
  const std::optional<Timed> found = timed(plan, x);
  return found ? std::optional(found->exposed) : std::nullopt;
}

bool JobAxis::fits(std::size_t plan, double x) {
  const std::optional<Timed> found = timed(plan, x);
  return found && found->fits;
}

std::optional<JobAxis::Timed> JobAxis::timed_rival(double x) {
  if (!rivals_) {
    return timed(0, x);
  }
  At& here = at(x);
  if (here.prepared && !here.rival) {
    here.rival = timed_remedy(*here.prepared);
  }
  return here.rival;
}

std::optional<Seconds> JobAxis::rival_step(double x) {
  const std::optional<Timed> found = timed_rival(x);
  return found ? std::optional(found->step) : std::nullopt;
}

std::optional<Seconds> JobAxis::rival_exposed(double x) {
  const std::optional<Timed> found = timed_rival(x);
  return found ? std::optional(found->exposed) : std::nullopt;
}

double JobAxis::gain(std::size_t plan, double x) {
  const std::optional<Timed> mine = timed(plan, x);
  const std::optional<Seconds> other = rival_step(x);
  return mine && mine->fits && other ? *other / mine->step - 1.0 : -1.0;
}

JobAxis::Make bandwidth_axis(const Experiment& experiment) {
  return [&experiment](double x) -> std::optional<Experiment> {
    Experiment result = experiment;
    set_nic_rate(result.cluster, {x});
    return result;
  };
}

std::optional<Bandwidth> useful_bandwidth(const Experiment& experiment, Bandwidth highest) {
  const Group group = data_group(experiment.layout, experiment.cluster.gpus_per_node);
  if (group.nodes() < 2) {
    return std::nullopt;
  }
  const Messages messages = probed_messages(experiment);
  auto times = [&, cluster = experiment.cluster](Bandwidth nic) mutable {
    set_nic_rate(cluster, nic);
    return message_times(cluster, group, messages);
  };
  const std::vector<Seconds> final = times(highest);
  // Down to the last line rate where anything differs, in steps that a choice of the library is
  // not expected to hide between.
  constexpr double step = 1.2;
  if (!alike(times(highest / step), final)) {
    return std::nullopt;
  }
  Bandwidth differs = highest / step;
  do {
    differs /= step;
  } while (differs > 0.001_Gbps && alike(times(differs), final));
  Bandwidth enough = step * differs;
  while (enough - differs > 1e-5 * enough) {
    const Bandwidth middle = 0.5 * (differs + enough);
    (alike(times(middle), final) ? enough : differs) = middle;
  }
  return enough;
}

NodeLimit limit_beyond(const Experiment& experiment, Bandwidth useful) {
  const Group group = data_group(experiment.layout, experiment.cluster.gpus_per_node);
  const Messages messages = probed_messages(experiment);
  Cluster cluster = experiment.cluster;
  set_nic_rate(cluster, 2.0 * useful);
  const std::vector<Seconds> limited = message_times(cluster, group, messages);
  const auto lift = [](Network& network) {
    network.node_limit.reset();
    network.law.node_limit = {};
  };
  lift(cluster.network);
  for (Cluster& kind : cluster.kinds) {
    lift(kind.network);
  }
  const std::vector<Seconds> unlimited = message_times(cluster, group, messages);
  return std::equal(limited.begin(), limited.end(), unlimited.begin(),
                    [](Seconds a, Seconds b) { return !noticeably_longer(a, b); })
             ? NodeLimit::pcie_slots
             : NodeLimit::sockets;
}

JobAxis::Make replica_axis(const Experiment& experiment) {
  return [&experiment](double x) {
    return with_dp(experiment,
                   static_cast<int>(std::lround(x)) * scaling_step(experiment).replicas);
  };
}

Signature bandwidth_choices(const Experiment& experiment) {
  return [cluster = experiment.cluster,
          group = data_group(experiment.layout, experiment.cluster.gpus_per_node),
          messages = gradient_messages(experiment)](double x) {
    Cluster at_x = cluster;
    set_nic_rate(at_x, {x});
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
