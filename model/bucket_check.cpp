// SPDX-License-Identifier: Apache-2.0
#include "model/bucket_check.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/compression_effect.hpp"

namespace payoff {
namespace {

// The largest number that is written.
std::int64_t last_named(const CompressionPlan& plan) {
  std::int64_t last = 0;
  for (std::size_t method = 0; method < plan.gradient_methods().size(); ++method) {
    for (const BlockRange& range : plan.buckets_of(method).ranges) {
      last = std::max(last, range.last == BlockRange{}.last ? range.first : range.last);
    }
  }
  return last;
}

bool is_one(const BucketSet& buckets) {
  return buckets.ranges.size() == 1 && buckets.ranges[0].first == buckets.ranges[0].last;
}

// The methods of a plan that leave all of their buckets as they are.
void check_bucket_effects(const CompressionPlan& plan, const PreparedExperiment& prepared,
                          const std::string& path, Problems& problems) {
  const std::vector<CallCost> costs = prepared.codec_costs(plan);
  const std::vector<const Method*> methods = plan.gradient_methods();
  const Group& group = prepared.data_network().group();
  for (std::size_t method = 0; method < methods.size(); ++method) {
    const BucketSet& buckets = plan.buckets_of(method);
    const bool compresses = std::any_of(costs.begin(), costs.end(), [&](const CallCost& cost) {
      return cost.method == method && !cost.rounds.empty();
    });
    if (buckets.is_all() || compresses ||
        has_nothing_to_do(*methods[method], {group.ranks, group.ranks_per_node})) {
      continue;
    }
    const auto first = static_cast<std::size_t>(buckets.ranges.front().first);
    problems.push_back({path,
                        "`" + plan.label + "` compresses nothing of bucket " +
                            std::to_string(first) + ", which `" +
                            prepared.layer_completing(first).name + "` completes" +
                            (is_one(buckets) ? "" : ", nor of the others that it names"),
                        "name a bucket with tensors that get smaller, or another method"});
  }
}

}  // namespace

Problems check_buckets(const Experiment& experiment) {
  Problems problems;
  if (std::none_of(experiment.plans.begin(), experiment.plans.end(),
                   [](const CompressionPlan& plan) { return plan.chooses_buckets(); })) {
    return problems;
  }
  const PreparedExperiment prepared(experiment);
  const auto buckets = static_cast<std::int64_t>(prepared.most_buckets());
  for (std::size_t i = 1; i < experiment.plans.size(); ++i) {
    const CompressionPlan& plan = experiment.plans[i];
    const std::int64_t last = last_named(plan);
    if (plan.chooses_buckets() && last >= buckets) {
      problems.push_back(
          {"compress." + std::to_string(i - 1),
           "`" + plan.label + "` names bucket " + std::to_string(last) + ", and " +
               (buckets == 1 ? std::string("gradients travel in one bucket, number 0")
                             : "no stage has more than " + std::to_string(buckets) +
                                   " buckets, numbered from 0"),
           "name buckets that there are, or set training.bucket"});
    } else if (plan.chooses_buckets()) {
      check_bucket_effects(plan, prepared, "compress." + std::to_string(i - 1), problems);
    }
  }
  return problems;
}

}  // namespace payoff
