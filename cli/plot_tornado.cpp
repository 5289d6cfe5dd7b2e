// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "cli/names.hpp"
#include "cli/plot_view.hpp"
#include "cli/table.hpp"
#include "cli/tornado_chart.hpp"
#include "study/payoff.hpp"

// `payoff plot --tornado`.

namespace payoff {
namespace {

Tornado tornado_of(const Experiment& experiment, const PlanPayoff& plan) {
  Tornado tornado;
  tornado.title = fmt::format("What decides whether {} pays", plan.label);
  tornado.captions = {fmt::format("{} on {} GPUs ({})", name_of(experiment.model),
                                  experiment.cluster.gpus(), experiment.cluster.name),
                      "Each alone as far off as in 5 and 95 % of the draws,",
                      "in brackets its share of the variance of the speedup"};
  tornado.x_label = "speedup over the best uncompressed remedy";
  tornado.centre = plan.against_remedy.speedup;
  for (const Influence& influence : plan.decided_by) {
    tornado.bars.push_back(
        {fmt::format("{} ({} %)", name(influence.unknown),
                     fixed(std::round(100 * influence.variance_share) + 0.0, 0)  // not -0
                     ),
         influence.speedup_low, influence.speedup_high});
  }
  return tornado;
}

std::string tornado_csv(const PlanPayoff& plan) {
  std::string text =
      csv_line({"strategy", "parameter", "variance_share_ratio", "speedup_low", "speedup_high"});
  for (const Influence& influence : plan.decided_by) {
    text += csv_line({plan.label, std::string(name(influence.unknown)),
                      exact_number(influence.variance_share), exact_number(influence.speedup_low),
                      exact_number(influence.speedup_high)});
  }
  return text;
}

}  // namespace

std::optional<PlotView> view_tornado(const ReadExperiment& read, const PlotRequest& request,
                                     Session& session) {
  AssessOptions options;
  options.limits = read.limits;
  options.sensitivity = true;
  const Payoff payoff = assess(read.experiment, options);
  const PlanPayoff* best = payoff.best_plan();
  if (best == nullptr || best->decided_by.empty()) {
    session.diagnostics().error(
        request.place, "there is nothing to decide", {},
        "no strategy fits the memory, or none differs from the best remedy");
    return std::nullopt;
  }
  const Tornado tornado = tornado_of(read.experiment, *best);
  PlotView view;
  view.csv = tornado_csv(*best);
  view.script = [tornado](Picture picture, const std::string& output) {
    return gnuplot_script(tornado, picture, output);
  };
  view.typed = [tornado](const TypedForm& form) { return typed(tornado, form); };
  return view;
}

}  // namespace payoff
