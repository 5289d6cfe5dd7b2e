// SPDX-License-Identifier: Apache-2.0
#include "cli/host_facts.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "model/host_codec.hpp"
#include "model/units_text.hpp"

namespace payoff {

bool encodes_on_hosts(const Experiment& experiment) {
  return std::any_of(
      experiment.plans.begin(), experiment.plans.end(), [](const CompressionPlan& plan) {
        const auto methods = plan.gradient_methods();
        return std::any_of(methods.begin(), methods.end(),
                           [](const Method* method) { return method->host.has_value(); });
      });
}

void add_assumed_copies(const Experiment& experiment, Facts& facts) {
  const Cluster& cluster = experiment.cluster;
  if (!encodes_on_hosts(experiment) || cluster.host.copy > Bandwidth{} ||
      cluster.gpu.copies.rate > Bandwidth{}) {
    return;
  }
  Fact fact;
  fact.path = "cluster.host.copy";
  fact.value_text = to_text(copy_rate(cluster));
  fact.citation = fmt::format("{} of the GPU's slot (docs/model.md, 3.3)", copy_share);
  facts.push_back(std::move(fact));
}

}  // namespace payoff
