// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/chart.hpp"
#include "cli/commands.hpp"
#include "cli/experiment_input.hpp"
#include "cli/json_output.hpp"
#include "cli/option_values.hpp"
#include "cli/profile_library.hpp"
#include "cli/speedup_chart.hpp"
#include "cli/table.hpp"
#include "model/units_text.hpp"
#include "study/scaled_job.hpp"
#include "study/scaling.hpp"

// payoff plot: the speedup of every strategy against the number of GPUs or the bandwidth.

namespace payoff {
namespace {

struct PlotRequest {
  PlotQuestion question;
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

// gnuplot writes to a name beside the target, which then takes its place.
void write_picture(const Chart& chart, const std::filesystem::path& file, OutputFiles& files) {
  Picture picture{};
  (void)picture_of(file, picture);
  if (file.extension() == ".gp") {
    std::filesystem::path png = file;
    files.add(file, gnuplot_script(chart, picture, png.replace_extension(".png").string()));
    return;
  }
  files.add(file, picture_bytes(chart, picture));
}

ExitCode run_plot(const Arguments& arguments, Session& session) {
  const Library library = find_library();
  const PlotRequest request = read_request(arguments, session);
  const auto read = read_experiment_input(arguments, library, session);
  if (read) {
    check_axis(read->experiment, request.question, arguments, session);
  }
  if (!read || session.diagnostics().has_errors()) {
    return session.report();
  }
  warn_of_default_batch(*read, session);
  const Chart chart = speedup_chart(read->experiment, read->limits, request.question);
  OutputFiles files;
  if (request.output) {
    write_picture(chart, request.output->text, files);
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
               {"-o", "FILE", "a picture (.png .svg .pdf) or the gnuplot script (.gp)",
                Takes::value, true},
               {"--terminal", "", "draws with characters", Takes::nothing},
               csv_option}),
          run_plot,
          experiment_details};
}

}  // namespace payoff
