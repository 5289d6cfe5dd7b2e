// SPDX-License-Identifier: Apache-2.0
#include "study/collective_run.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "model/collective.hpp"
#include "model/group_paths.hpp"
#include "study/plan_messages.hpp"
#include "study/spread.hpp"

namespace payoff {
namespace {

// How far the shape of a law may be off from one size to another, relative, and the number of sizes
// that this is worth against those that were measured; assumed. One size alone would otherwise be
// believed as much as twenty that agree.
constexpr double shape_sd = 0.1;
constexpr double sizes_assumed = 1;

// All ranks of the job.
Group job_group(const Experiment& experiment) {
  const int ranks = experiment.layout.ranks();
  return {ranks, std::min(ranks, experiment.cluster.gpus_per_node), 1};
}

Message message_of(const CollectiveModel& model, Collective collective, Bytes size) {
  const CollectivePrice price = model.price(collective, size);
  Message message;
  message.collective = collective;
  message.size = size;
  message.alone = price.time;
  message.relative_sd = price.relative_sd;
  message.least_share = least_share(price);
  message.in_node = model.paths().domains == 1;
  return message;
}

// Whether any message of its plans stays inside a node.
bool sends_inside(const Experiment& experiment) {
  const PreparedExperiment prepared(experiment);
  return std::any_of(experiment.plans.begin(), experiment.plans.end(),
                     [&](const CompressionPlan& compression) {
                       bool found = false;
                       for_each_message(prepared.plan(compression), [&](const Message& message) {
                         found = found || (message.in_node && message.alone > 0_s);
                       });
                       return found;
                     });
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double scatter(const std::vector<double>& deviations, double assumed) {
  const double mean = mean_of(deviations);
  double squares = sizes_assumed * assumed * assumed;
  for (const double deviation : deviations) {
    squares += (deviation - mean) * (deviation - mean);
  }
  return std::sqrt(squares / (sizes_assumed + static_cast<double>(deviations.size() - 1)));
}

}  // namespace

bool measures_inside_alone(const Experiment& experiment, const ObservedCollective& observed) {
  return paths_of(experiment.cluster, job_group(experiment)).domains > 1 &&
         paths_of(experiment.cluster, observed.group).domains == 1;
}

Problems check_observation(const Experiment& experiment, const ObservedCollective& observed) {
  const Cluster& cluster = experiment.cluster;
  Problems problems;
  if (observed.points.empty()) {
    problems.push_back({"observed.points", "there are no sizes", ""});
  }
  for (const CollectivePoint& point : observed.points) {
    if (point.size <= 0_B || point.time <= 0_s) {
      problems.push_back({"observed.points", "a size or a time is not positive", ""});
      break;
    }
  }
  if (!(observed.noise > 0.0)) {
    problems.push_back({"observed.noise", "noise must be positive", "leave it out for 2 %"});
  }
  if (observed.group.ranks < 2) {
    problems.push_back({"observed.group", "one rank sends nothing", ""});
    return problems;
  }
  const Problems impossible = check_group(cluster, observed.group);
  problems.insert(problems.end(), impossible.begin(), impossible.end());
  const Group job = job_group(experiment);
  if (!impossible.empty() || !check_group(cluster, job).empty()) {
    return problems;
  }
  const bool measured_between = paths_of(cluster, observed.group).domains > 1;
  const bool job_between = paths_of(cluster, job).domains > 1;
  if (job_between && !measured_between && !sends_inside(experiment)) {
    problems.push_back({"observed.group",
                        "measured inside a node, while all messages of this job go between nodes: "
                        "of their network it says nothing",
                        "run nccl-tests on two nodes or more"});
  } else if (!job_between && measured_between) {
    problems.push_back({"observed.group",
                        "measured between nodes, while all messages of this job stay inside one: "
                        "of its fabric it says nothing",
                        "run nccl-tests on one node"});
  }
  return problems;
}

CollectiveRun::CollectiveRun(const Experiment& experiment, const ObservedCollective& observed)
    : observed_(observed) {
  std::sort(observed_.points.begin(), observed_.points.end(),
            [](const CollectivePoint& a, const CollectivePoint& b) { return a.size < b.size; });
  const CollectiveModel model(experiment.cluster, observed_.group, observed_.release);
  std::map<std::size_t, SizeClass> classes;  // by latent
  for (const CollectivePoint& point : observed_.points) {
    Size size{message_of(model, observed_.collective, point.size), 0};
    size.log_ratio = std::log(point.time / size.predicted.alone);
    if (size.predicted.relative_sd > 0) {  // else there is nothing to learn of it
      classes[message_latent(size.predicted)].sizes.push_back(size);
    }
  }
  for (auto& [of, sizes] : classes) {
    std::vector<double> deviations;
    std::vector<double> per_sd;
    deviations.reserve(sizes.sizes.size());
    per_sd.reserve(sizes.sizes.size());
    for (const Size& size : sizes.sizes) {
      deviations.push_back(size.log_ratio / size.predicted.relative_sd);
      per_sd.push_back(1 / size.predicted.relative_sd);
    }
    sizes.relative_sd = 1 / mean_of(per_sd);
    sizes.noise = std::hypot(observed_.noise / sizes.relative_sd,
                             scatter(deviations, shape_sd / sizes.relative_sd));
    classes_.push_back(std::move(sizes));
  }
}

void CollectiveRun::add_residuals(const Latents& z, std::vector<double>& residuals) const {
  for (const SizeClass& sizes : classes_) {
    std::vector<double> deviations;
    deviations.reserve(sizes.sizes.size());
    for (const Size& size : sizes.sizes) {
      deviations.push_back((size.log_ratio - std::log(message_factor(size.predicted, z))) /
                           size.predicted.relative_sd);
    }
    residuals.push_back(mean_of(deviations) / sizes.noise);
  }
}

std::vector<ObservedSizes> CollectiveRun::sizes(const Latents& mode) const {
  std::vector<ObservedSizes> result;
  result.reserve(classes_.size());
  const auto ratio = [](const SizeClass& sizes, const Latents& z) {
    std::vector<double> logs;
    logs.reserve(sizes.sizes.size());
    for (const Size& size : sizes.sizes) {
      logs.push_back(size.log_ratio - std::log(message_factor(size.predicted, z)));
    }
    return std::exp(mean_of(logs));
  };
  for (const SizeClass& each : classes_) {
    result.push_back({observed_.file, observed_.collective, observed_.group,
                      each.sizes.front().predicted.size, each.sizes.back().predicted.size,
                      each.sizes.size(), ratio(each, {}), ratio(each, mode),
                      each.noise * each.relative_sd});
  }
  return result;
}

}  // namespace payoff
