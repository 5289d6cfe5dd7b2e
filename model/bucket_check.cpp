// SPDX-License-Identifier: Apache-2.0
#include "model/bucket_check.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

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

}  // namespace

Problems check_buckets(const Experiment& experiment) {
  Problems problems;
  if (std::none_of(experiment.plans.begin(), experiment.plans.end(),
                   [](const CompressionPlan& plan) { return plan.chooses_buckets(); })) {
    return problems;
  }
  const auto buckets = static_cast<std::int64_t>(PreparedExperiment(experiment).most_buckets());
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
    }
  }
  return problems;
}

}  // namespace payoff
