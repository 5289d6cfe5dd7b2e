// SPDX-License-Identifier: Apache-2.0
#include "cli/usual_plans.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "profiles/read_method.hpp"

namespace payoff {
namespace {

enum class Of { any, several_nodes, wide_gradients };  // jobs that it is for

struct UsualPlan {
  const char* text;
  Of of;
};

constexpr std::array usual{UsualPlan{"powersgd:rank=4", Of::any},
                           UsualPlan{"qsgd:bits=8", Of::any},
                           UsualPlan{"topk:ratio=0.01", Of::any},
                           UsualPlan{"signsgd", Of::any},
                           UsualPlan{"fp16", Of::wide_gradients},
                           UsualPlan{"fp8", Of::any},
                           UsualPlan{"qgz", Of::any},
                           UsualPlan{"qwz:traffic=dp_weights + qgz", Of::any},
                           UsualPlan{"dgc_nodes", Of::several_nodes},
                           UsualPlan{"dgc_host", Of::several_nodes},
                           UsualPlan{"efsignsgd_nodes", Of::several_nodes},
                           UsualPlan{"efsignsgd_host", Of::several_nodes}};

bool is_for(Of of, const Experiment& experiment) {
  switch (of) {
    case Of::several_nodes:
      return experiment.cluster.nodes > 1;
    case Of::wide_gradients:
      return experiment.training.gradient == Precision::fp32 ||
             experiment.training.gradient == Precision::tf32;
    case Of::any:
      break;
  }
  return true;
}

bool runs_on(const Cluster& cluster, const CompressionPlan& plan) {
  const auto methods = plan.methods();
  return std::all_of(methods.begin(), methods.end(), [&](const Method* method) {
    return (!method->reduces_from || cluster.gpu.architecture >= *method->reduces_from) &&
           (!runs_on_host(*method) || cluster.host.cores > 0);
  });
}

}  // namespace

void add_usual_plans(ReadExperiment& read, const Library& library, Session& session) {
  if (read.document.root.find("compress") != nullptr) {
    return;
  }
  for (const UsualPlan& each : usual) {
    if (!is_for(each.of, read.experiment)) {
      continue;
    }
    const std::string written = each.text;
    const std::size_t source = session.sources().add_argument(0, written);
    auto plan = read_plan(Span{source, 0, written.size()},
                          {library, session.sources(), session.diagnostics()});
    if (plan && runs_on(read.experiment.cluster, plan->plan)) {
      read.experiment.plans.push_back(std::move(plan->plan));
      read.notes.push_back(std::move(plan->notes));
    }
  }
}

}  // namespace payoff
