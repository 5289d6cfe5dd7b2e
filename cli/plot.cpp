// SPDX-License-Identifier: Apache-2.0
#include <cmath>
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
#include "cli/names.hpp"
#include "cli/option_values.hpp"
#include "cli/prediction_report.hpp"
#include "cli/profile_library.hpp"
#include "cli/table.hpp"
#include "model/units_text.hpp"
#include "study/break_even.hpp"
#include "study/remedy.hpp"
#include "study/scaling.hpp"

// payoff plot: how the gain of every strategy changes with the number of GPUs or the bandwidth.

namespace payoff {
namespace {

enum class Axis { gpus, bandwidth };
enum class Rival { uncompressed, remedy };

struct PlotQuestion {
  Axis axis{};
  Rival rival{};
  std::optional<Argument> output;
  bool on_terminal{};
  ScalingOptions scaling;
};

void read_gpu_range(const Arguments& arguments, PlotQuestion& question, Session& session) {
  if (arguments.has("--from")) {
    session.diagnostics().error(arguments.value("--from")->span,
                                "`--from` is for --x bandwidth: GPUs begin with the smallest job");
  }
  question.scaling.most_gpus =
      integer_value(arguments, "--to", {1, 1 << 20}, session).value_or(question.scaling.most_gpus);
}

void read_bandwidth_range(const Arguments& arguments, PlotQuestion& question, Session& session) {
  for (const auto& [option, bound] : {std::pair{"--from", &question.scaling.lowest_bandwidth},
                                      std::pair{"--to", &question.scaling.highest_bandwidth}}) {
    const auto given = arguments.value(option);
    if (!given) {
      continue;
    }
    const Parsed<Bandwidth> parsed = parse_quantity<Bandwidth>(given->text, Sign::positive);
    if (!parsed) {
      report_text_error(option, *given, parsed.error, session);
    }
    *bound = parsed.value.value_or(*bound);
  }
  if (question.scaling.lowest_bandwidth >= question.scaling.highest_bandwidth) {
    session.diagnostics().error(
        arguments.value("--to") ? arguments.value("--to")->span : arguments.value("--from")->span,
        "the range of bandwidths is empty");
  }
}

PlotQuestion read_question(const Arguments& arguments, Session& session) {
  PlotQuestion question;
  if (const auto axis = arguments.value("--x")) {
    question.axis =
        named_value<Axis>("an axis", *axis, {{"gpus", Axis::gpus}, {"bandwidth", Axis::bandwidth}},
                          session)
            .value_or(Axis::gpus);
  }
  if (const auto rival = arguments.value("--against")) {
    question.rival =
        named_value<Rival>("a rival", *rival,
                           {{"uncompressed", Rival::uncompressed}, {"remedy", Rival::remedy}},
                           session)
            .value_or(Rival::uncompressed);
  }
  if (question.axis == Axis::gpus) {
    read_gpu_range(arguments, question, session);
  } else {
    read_bandwidth_range(arguments, question, session);
  }
  question.output = arguments.value("-o");
  question.on_terminal = arguments.has("--terminal");
  Picture picture{};
  if (question.output && !picture_of(question.output->text, picture)) {
    session.diagnostics().error(question.output->span,
                                "the name ends in none of .png .svg .pdf .gp");
  }
  if (!question.output && !question.on_terminal && !arguments.has(csv_option.name)) {
    session.diagnostics().error(std::nullopt,
                                "`payoff plot` needs -o FILE, --terminal or --csv FILE", {},
                                "for example `payoff plot EXPERIMENT.yaml -o scaling.svg`");
  }
  return question;
}

double on_chart(int gpus) { return gpus; }
double on_chart(Bandwidth bandwidth) { return bandwidth / 1_Gbps; }

template <typename X>
double speedup_at(const Curve<X>& curve, X x) {
  // On the drawn line, so that the mark lies on it.
  for (std::size_t i = 1; i < curve.points.size(); ++i) {
    const CurvePoint<X>& a = curve.points[i - 1];
    const CurvePoint<X>& b = curve.points[i];
    if (x >= a.x && x <= b.x) {
      const double share =
          std::log(on_chart(x) / on_chart(a.x)) / std::log(on_chart(b.x) / on_chart(a.x));
      return a.speedup * std::pow(b.speedup / a.speedup, share);
    }
  }
  return 1.0;
}

template <typename X>
void add_curves(const std::vector<Curve<X>>& curves, Chart& chart) {
  for (const Curve<X>& curve : curves) {
    const bool is_baseline = &curve == &curves.front();
    ChartCurve line{curve.label, {}, {}, {}};
    for (const CurvePoint<X>& point : curve.points) {
      line.points.push_back({on_chart(point.x), point.speedup});
      if (is_baseline) {
        chart.x_ticks.push_back(on_chart(point.x));
      }
    }
    for (const X x : curve.break_evens) {
      line.marks.push_back({on_chart(x), speedup_at(curve, x)});
      line.remark += (line.remark.empty() ? "" : ", ") + significant(on_chart(x));
    }
    if (!is_baseline) {
      chart.curves.push_back(std::move(line));
    }
  }
}

Chart draw(const Experiment& experiment, const RemedyLimits& limits, PlotQuestion question) {
  const Variant remedy = best_remedy(experiment, limits);
  const bool against_remedy = question.rival == Rival::remedy && !remedy.description.empty();
  if (against_remedy) {
    question.scaling.rival = remedy.change;
  }
  const std::vector<BreakEven> marks = break_evens(experiment, {.rival = question.scaling.rival});
  Chart chart;
  chart.title = fmt::format("{} on {}", model_name(experiment), experiment.cluster.name);
  chart.base_label = against_remedy ? remedy.description : "uncompressed";
  chart.y_label = "speedup over " + chart.base_label;
  if (question.axis == Axis::gpus) {
    chart.title += fmt::format(
        ", {} x {} a node, {} samples a GPU and micro-batch", experiment.cluster.nics_per_node,
        link_rate_text(experiment.cluster.nic), experiment.layout.micro_batch);
    chart.x_label = "GPUs";
    add_curves(gpu_curves(experiment, marks, question.scaling), chart);
  } else {
    chart.title += fmt::format(", {} GPUs, {} samples a GPU and micro-batch",
                               experiment.layout.ranks(), experiment.layout.micro_batch);
    chart.x_label = "bandwidth of one NIC [Gb/s]";
    add_curves(bandwidth_curves(experiment, marks, question.scaling), chart);
    chart.x_ticks.clear();
  }
  return chart;
}

std::string chart_csv(const Chart& chart, Axis axis) {
  std::string text =
      csv_line({"strategy", axis == Axis::gpus ? "gpus" : "bandwidth_gigabits_per_second",
                "speedup", "break_even"});
  for (const ChartCurve& curve : chart.curves) {
    for (const ChartPoint& point : curve.points) {
      text += csv_line({curve.label, exact_number(point.x), exact_number(point.y), "false"});
    }
    for (const ChartPoint& mark : curve.marks) {
      text += csv_line({curve.label, exact_number(mark.x), exact_number(mark.y), "true"});
    }
  }
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
  const PlotQuestion question = read_question(arguments, session);
  const auto read = read_experiment_input(arguments, library, session);
  if (!read || session.diagnostics().has_errors()) {
    return session.report();
  }
  if (question.axis == Axis::bandwidth && read->experiment.cluster.nodes == 1) {
    session.diagnostics().error(arguments.value("--x")->span, "no NIC is used on one node");
    return session.report();
  }
  const Chart chart = draw(read->experiment, read->limits, question);
  OutputFiles files;
  if (question.output) {
    write_picture(chart, question.output->text, files);
  }
  std::string shown;
  if (question.on_terminal) {
    shown = picture_bytes(chart, Picture::terminal);
  }
  deliver({shown, {}, chart_csv(chart, question.axis)}, arguments, files, session);
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
               {"--from", "X", "lowest bandwidth; default 1 Gb/s"},
               {"--to", "X", "most GPUs (default 1024), or highest bandwidth (800 Gb/s)"},
               {"--against", "RIVAL", "uncompressed (the default) or remedy, the best one"},
               {"-o", "FILE", "a picture (.png .svg .pdf) or the gnuplot script (.gp)"},
               {"--terminal", "", "draws with characters", Takes::nothing},
               csv_option}),
          run_plot};
}

}  // namespace payoff
