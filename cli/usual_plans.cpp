// SPDX-License-Identifier: Apache-2.0
#include "cli/usual_plans.hpp"

#include <array>
#include <string>
#include <utility>

#include "profiles/read_method.hpp"

namespace payoff {
namespace {

constexpr std::array usual{"powersgd:rank=4", "qsgd:bits=8", "topk:ratio=0.01",
                           "signsgd",         "fp16",        "fp8"};

// Whether the GPUs can run it, and a cast makes the gradients smaller.
bool is_of_use(const CompressionPlan& plan, const Experiment& experiment) {
  const Method& method = *plan.method;
  const bool cast = method.name == "fp16";
  return (!method.reduces_from || experiment.cluster.gpu.architecture >= *method.reduces_from) &&
         (!cast || experiment.training.gradient == Precision::fp32 ||
          experiment.training.gradient == Precision::tf32);
}

}  // namespace

void add_usual_plans(ReadExperiment& read, const Library& library, Session& session) {
  if (read.document.root.find("compress") != nullptr) {
    return;
  }
  for (const char* text : usual) {
    const std::string written = text;
    const std::size_t source = session.sources().add_argument(0, written);
    auto plan = read_plan(Span{source, 0, written.size()},
                          {library, session.sources(), session.diagnostics()});
    if (plan && is_of_use(plan->plan, read.experiment)) {
      read.experiment.plans.push_back(std::move(plan->plan));
      read.notes.push_back(std::move(plan->notes));
    }
  }
}

}  // namespace payoff
