// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/chart.hpp"
#include "cli/commands.hpp"
#include "cli/engine_option.hpp"
#include "cli/experiment_input.hpp"
#include "cli/json_output.hpp"
#include "cli/names.hpp"
#include "cli/option_values.hpp"
#include "cli/picture_file.hpp"
#include "cli/profile_library.hpp"
#include "cli/speedup_chart.hpp"
#include "cli/table.hpp"
#include "cli/tornado_chart.hpp"
#include "model/units_text.hpp"
#include "study/payoff.hpp"
#include "study/scaled_job.hpp"
#include "study/scaling.hpp"

// payoff plot: the speedup of every strategy against the number of GPUs or the bandwidth.

namespace payoff {
namespace {

constexpr OptionSpec tornado_option{
    "--tornado", "", "instead: what decides the verdict on the best strategy", Takes::nothing};

struct PlotRequest {
  PlotQuestion question;
  bool tornado{};
  std::optional<Argument> output;
  bool on_terminal{};
};

// The option that set an end of the range, the upper one first.
std::optional<Span> range_place(const Arguments& arguments) {
  for (const char* option : {"--to", "--from", "--x"}) {
    if (const auto given = arguments.value(option)) {
      return given->span;
    }
  }
  return std::nullopt;
}

void read_gpu_range(const Arguments& arguments, ScalingOptions& scaling, Session& session) {
  constexpr IntegerRange gpus{1, 1 << 20};
  scaling.fewest_gpus =
      integer_value(arguments, "--from", gpus, session).value_or(scaling.fewest_gpus);
  scaling.most_gpus = integer_value(arguments, "--to", gpus, session).value_or(scaling.most_gpus);
  if (scaling.fewest_gpus > scaling.most_gpus) {
    session.diagnostics().error(range_place(arguments), "the range of GPUs is empty");
  }
}

void read_bandwidth_range(const Arguments& arguments, ScalingOptions& scaling, Session& session) {
  for (const auto& [option, bound] : {std::pair{"--from", &scaling.lowest_bandwidth},
                                      std::pair{"--to", &scaling.highest_bandwidth}}) {
    *bound = quantity_value(arguments, option, nic_rates, session).value_or(*bound);
  }
  if (scaling.lowest_bandwidth >= scaling.highest_bandwidth) {
    session.diagnostics().error(range_place(arguments), "the range of bandwidths is empty");
  }
}

void read_output(const Arguments& arguments, PlotRequest& request, Session& session) {
  request.output = arguments.value("-o");
  request.on_terminal = arguments.has("--terminal");
  Picture picture{};
  if (request.output && !picture_of(request.output->text, picture)) {
    session.diagnostics().error(request.output->span,
                                "the name ends in none of .png .svg .pdf .gp");
  }
  if (!request.output && !request.on_terminal && !arguments.has(csv_option.name)) {
    session.diagnostics().error(std::nullopt,
                                "`payoff plot` needs -o FILE, --terminal or --csv FILE", {},
                                "for example `payoff plot EXPERIMENT.yaml -o scaling.svg`");
  }
}

PlotRequest read_request(const Arguments& arguments, Session& session) {
  PlotRequest request;
  PlotQuestion& question = request.question;
  request.tornado = arguments.has(tornado_option.name);
  if (const auto axis = arguments.value("--x")) {
    question.axis = named_value<PlotAxis>(
                        "an axis", *axis,
                        {{"gpus", PlotAxis::gpus}, {"bandwidth", PlotAxis::bandwidth}}, session)
                        .value_or(PlotAxis::gpus);
  }
  if (const auto rival = arguments.value("--against")) {
    question.rival =
        named_value<PlotRival>(
            "a rival", *rival,
            {{"uncompressed", PlotRival::uncompressed}, {"remedy", PlotRival::remedy}}, session)
            .value_or(PlotRival::uncompressed);
  }
  if (question.axis == PlotAxis::gpus) {
    read_gpu_range(arguments, question.scaling, session);
  } else {
    read_bandwidth_range(arguments, question.scaling, session);
  }
  read_output(arguments, request, session);
  return request;
}

// What the axis cannot show of this experiment.
void check_axis(const Experiment& experiment, const PlotQuestion& question,
                const Arguments& arguments, Session& session) {
  if (question.axis == PlotAxis::bandwidth) {
    if (experiment.cluster.nodes == 1) {
      session.diagnostics().error(arguments.value("--x")->span, "no NIC is used on one node");
    }
    return;
  }
  const ScalingStep step = scaling_step(experiment);
  const int gpus = step.nodes * experiment.cluster.gpus_per_node;
  const ScalingOptions& range = question.scaling;
  if (range.most_gpus / gpus < (range.fewest_gpus + gpus - 1) / gpus) {
    session.diagnostics().error(
        range_place(arguments),
        fmt::format("no such job has {} to {} GPUs", range.fewest_gpus, range.most_gpus), {},
        fmt::format("whole replicas on whole nodes: a multiple of {} GPUs", gpus));
  }
}

std::string chart_csv(const Chart& chart, PlotAxis axis) {
  std::string text =
      csv_line({"strategy", axis == PlotAxis::gpus ? "gpus" : "bandwidth_gigabits_per_second",
                "speedup", "break_even"});
  const auto add = [&text](const ChartCurve& curve) {
    for (const ChartPoint& point : curve.points) {
      text += csv_line({curve.label, exact_number(point.x), exact_number(point.y), "false"});
    }
    for (const ChartPoint& mark : curve.marks) {
      text += csv_line({curve.label, exact_number(mark.x), exact_number(mark.y), "true"});
    }
  };
  add(chart.rival);
  std::for_each(chart.curves.begin(), chart.curves.end(), add);
  return text;
}

Tornado tornado_of(const Experiment& experiment, const PlanPayoff& plan) {
  Tornado tornado;
  tornado.title = fmt::format("What decides whether {} pays", plan.label);
  tornado.captions = {fmt::format("{} on {} GPUs ({})", model_name(experiment),
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

ExitCode plot_tornado(const ReadExperiment& read, const PlotRequest& request,
                      const Arguments& arguments, Session& session) {
  AssessOptions options;
  options.limits = read.limits;
  options.sensitivity = true;
  const Payoff payoff = assess(read.experiment, options);
  const PlanPayoff* best = payoff.best_plan();
  if (best == nullptr || best->decided_by.empty()) {
    session.diagnostics().error(
        arguments.value(tornado_option.name)->span, "there is nothing to decide", {},
        "no strategy fits the memory, or none differs from the best remedy");
    return session.report();
  }
  const Tornado tornado = tornado_of(read.experiment, *best);
  OutputFiles files;
  if (request.output) {
    add_picture(tornado, request.output->text, files);
  }
  const std::string shown = request.on_terminal ? drawn([&](const std::string& output) {
    return gnuplot_script(tornado, Picture::terminal, output);
  })
                                                : "";
  deliver({shown, {}, tornado_csv(*best)}, arguments, files, session);
  return session.report();
}

ExitCode run_plot(const Arguments& arguments, Session& session) {
  const Library library = find_library();
  const PlotRequest request = read_request(arguments, session);
  const auto read = read_experiment_input(arguments, library, session);
  if (read && !request.tornado) {
    check_axis(read->experiment, request.question, arguments, session);
  }
  if (!read || session.diagnostics().has_errors()) {
    return session.report();
  }
  warn_of_default_batch(*read, session);
  warn_of_unseen_state(read->cluster_state, {}, session);
  if (request.tornado) {
    return plot_tornado(*read, request, arguments, session);
  }
  const Chart chart = speedup_chart(read->experiment, read->limits, request.question);
  OutputFiles files;
  if (request.output) {
    add_picture(chart, request.output->text, files);
  }
  std::string shown;
  if (request.on_terminal) {
    shown = picture_bytes(chart, Picture::terminal);
    for (const std::string& note : chart.notes) {
      shown += note + "\n";
    }
  }
  deliver({shown, {}, chart_csv(chart, request.question.axis)}, arguments, files, session);
  return session.report();
}

}  // namespace

Command plot_command() {
  return {"plot",
          "draws the speedup of every strategy against GPUs or bandwidth",
          "payoff plot examples/01-resnet50-v100/experiment.yaml --x bandwidth -o scaling.svg",
          {"EXPERIMENT", "an experiment file; options stand for its keys, and go over it", 0, 1},
          experiment_options(
              {{"--x", "AXIS", "gpus (the default; replicas are added) or bandwidth"},
               {"--from", "X", "fewest GPUs (default: one replica), or lowest bandwidth (1 Gb/s)"},
               {"--to", "X", "most GPUs (default 1024), or highest bandwidth (800 Gb/s)"},
               {"--against", "RIVAL", "uncompressed (the default) or remedy, the best one"},
               tornado_option,
               {"-o", "FILE", "a picture (.png .svg .pdf) or the gnuplot script (.gp)",
                Takes::value, true},
               {"--terminal", "", "draws with characters", Takes::nothing},
               csv_option}),
          run_plot,
          experiment_details};
}

}  // namespace payoff
