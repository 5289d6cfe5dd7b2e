// SPDX-License-Identifier: Apache-2.0
#include "study/plan_layouts.hpp"

#include <set>
#include <tuple>

#include "model/method_on_graph.hpp"
#include "study/candidate_job.hpp"

namespace payoff {

bool has_layout_for(const CompressionPlan& plan, const Experiment& experiment,
                    const std::vector<LayoutAxis>& keep) {
  Experiment job = in_layout(experiment, experiment.layout);
  const auto accepts = [&](const ParallelLayout& layout) {
    job.layout = layout;
    return check(job).empty();
  };
  job.plans.push_back(plan);
  if (accepts(experiment.layout)) {
    return true;
  }
  bool found = false;
  const LayoutSpace space = layout_space(experiment, keep);
  for (const ModelParts& parts : model_parts(space)) {
    std::set<std::tuple<int, int, int>> asked;  // layouts that are sound without the plan
    for_each_choice(space, parts, [&](const LayoutChoice& choice) {
      const ParallelLayout layout = layout_of(choice, space.given);
      const std::tuple key{choice.pp, choice.micro_batch, int{choice.zero}};
      // Whether nodes can have a graph depends on how many they are.
      const bool known = asked.contains(key) && !has_graph(plan);
      if (found || known || !is_possible(plan, layout)) {
        return;
      }
      job.plans.pop_back();
      const bool is_sound = accepts(layout);
      job.plans.push_back(plan);
      if (is_sound) {
        asked.insert(key);
        found = accepts(layout);
      }
    });
    if (found) {
      return true;
    }
  }
  return false;
}

}  // namespace payoff
