// SPDX-License-Identifier: Apache-2.0
#include "cli/plot_request.hpp"

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/option_values.hpp"
#include "cli/picture_file.hpp"
#include "cli/plot_axes.hpp"
#include "cli/result_choice.hpp"
#include "cli/result_question.hpp"

namespace payoff {
namespace {

constexpr OptionSpec characters_option{
    "--characters", "SET",
    "of --terminal: unicode (the default where the locale is one of UTF-8) or ascii", Takes::value};
constexpr OptionSpec tornado_option{
    "--tornado", "", "instead: what decides the verdict on the best strategy", Takes::nothing};
constexpr OptionSpec steps_option{
    "--waterfall", "", "instead: where the time of a step goes, a bar for every strategy",
    Takes::nothing};
constexpr OptionSpec codecs_option{
    "--roofline", "", "instead: how fast codecs are by size, beside the memory and the network",
    Takes::nothing};

void read_gpu_range(const Arguments& arguments, const AxisOptions& options, ScalingOptions& scaling,
                    Session& session) {
  constexpr IntegerRange gpus{1, 1 << 20};
  scaling.fewest_gpus =
      integer_value(arguments, options.from, gpus, session).value_or(scaling.fewest_gpus);
  scaling.most_gpus =
      integer_value(arguments, options.to, gpus, session).value_or(scaling.most_gpus);
  if (scaling.fewest_gpus > scaling.most_gpus) {
    session.diagnostics().error(range_place(arguments, options), "the range of GPUs is empty");
  }
}

void read_bandwidth_range(const Arguments& arguments, const AxisOptions& options,
                          ScalingOptions& scaling, Session& session) {
  for (const auto& [option, bound] : {std::pair{options.from, &scaling.lowest_bandwidth},
                                      std::pair{options.to, &scaling.highest_bandwidth}}) {
    *bound = quantity_value(arguments, option, nic_rates, session).value_or(*bound);
  }
  if (scaling.lowest_bandwidth >= scaling.highest_bandwidth) {
    session.diagnostics().error(range_place(arguments, options),
                                "the range of bandwidths is empty");
  }
}

void read_size_range(const Arguments& arguments, const AxisOptions& options,
                     ScalingOptions& scaling, Session& session) {
  constexpr NumberRange parameters{1e6, 1e15};
  for (const auto& [option, bound] : {std::pair{options.from, &scaling.fewest_parameters},
                                      std::pair{options.to, &scaling.most_parameters}}) {
    *bound = number_value(arguments, option, parameters, session).value_or(*bound);
  }
  if (scaling.fewest_parameters >= scaling.most_parameters) {
    session.diagnostics().error(range_place(arguments, options),
                                "the range of parameters is empty");
  }
}

PlotAxis read_axis(const Arguments& arguments, const AxisOptions& options, ScalingOptions& scaling,
                   Session& session) {
  PlotAxis axis{};
  if (const auto given = arguments.value(options.axis)) {
    axis = named_value<PlotAxis>("an axis", *given,
                                 {{"gpus", PlotAxis::gpus},
                                  {"bandwidth", PlotAxis::bandwidth},
                                  {"model", PlotAxis::model}},
                                 session)
               .value_or(PlotAxis::gpus);
  }
  switch (axis) {
    case PlotAxis::gpus:
      read_gpu_range(arguments, options, scaling, session);
      break;
    case PlotAxis::bandwidth:
      read_bandwidth_range(arguments, options, scaling, session);
      break;
    case PlotAxis::model:
      read_size_range(arguments, options, scaling, session);
      break;
  }
  return axis;
}

// At most one option asks for another picture than curves.
void read_kind(const Arguments& arguments, PlotRequest& request, Session& session) {
  for (const auto& [option, kind] :
       {std::pair{y_options.axis, PlotKind::frontier}, std::pair{"--tornado", PlotKind::tornado},
        std::pair{"--waterfall", PlotKind::steps}, std::pair{"--roofline", PlotKind::codecs}}) {
    const auto given = arguments.value(option);
    if (!given) {
      continue;
    }
    if (request.kind != PlotKind::curves) {
      session.diagnostics().error(given->span, "two pictures are asked for", {},
                                  "--y, --tornado, --waterfall and --roofline exclude each other");
    }
    request.kind = kind;
    request.place = given->span;
  }
}

void refuse(const Arguments& arguments, std::initializer_list<std::string_view> options,
            const char* why, Session& session) {
  for (const std::string_view option : options) {
    if (const auto given = arguments.value(option)) {
      session.diagnostics().error(given->span, why);
    }
  }
}

// What would be read and change nothing.
void check_unused(const Arguments& arguments, const PlotRequest& request, Session& session) {
  refuse(arguments, {by_option.name, where_option.name},
         "only results of `payoff sweep` have columns", session);
  const bool is_map = request.kind == PlotKind::frontier;
  if (request.kind != PlotKind::curves && !is_map) {
    refuse(arguments, {"--x", "--from", "--to"}, "only curves and maps have axes to choose",
           session);
  }
  if (!is_map) {
    refuse(arguments, {"--y-from", "--y-to"}, "only a map (--y AXIS) has a second axis", session);
  }
  if (request.kind != PlotKind::curves || request.question.quantity != PlotQuantity::speedup) {
    refuse(arguments, {"--against"}, "only curves of speedups are against a rival", session);
  }
}

void read_curves(const Arguments& arguments, PlotRequest& request, Session& session) {
  PlotQuestion& question = request.question;
  if (const auto rival = arguments.value("--against")) {
    question.rival =
        named_value<PlotRival>(
            "a rival", *rival,
            {{"uncompressed", PlotRival::uncompressed}, {"remedy", PlotRival::remedy}}, session)
            .value_or(PlotRival::uncompressed);
  }
  const auto quantity = arguments.value("--quantity");
  if (!quantity) {
    return;
  }
  question.quantity = named_value<PlotQuantity>("a quantity", *quantity,
                                                {{"speedup", PlotQuantity::speedup},
                                                 {"step_time", PlotQuantity::step_time},
                                                 {"efficiency", PlotQuantity::efficiency},
                                                 {"exposed", PlotQuantity::exposed}},
                                                session)
                          .value_or(PlotQuantity::speedup);
  if (question.quantity != PlotQuantity::speedup && request.kind != PlotKind::curves) {
    session.diagnostics().error(quantity->span, "this picture has no other quantity");
  } else if (question.quantity == PlotQuantity::efficiency && question.axis != PlotAxis::gpus) {
    session.diagnostics().error(quantity->span, "efficiency is that of adding GPUs", {},
                                "leave out --x, or choose another quantity");
  }
}

void read_form(const Arguments& arguments, PlotRequest& request, Session& session) {
  const auto characters = arguments.value(characters_option.name);
  if (!arguments.has("--terminal")) {
    if (characters) {
      session.diagnostics().error(characters->span, "there are no characters without --terminal");
    }
    return;
  }
  request.form = session.pictures();
  if (characters) {
    request.form->unicode = named_value<bool>("a set of characters", *characters,
                                              {{"ascii", false}, {"unicode", true}}, session)
                                .value_or(false);
  }
}

}  // namespace

std::vector<OptionSpec> plot_options() {
  return {
      {"--x", "AXIS",
       "gpus (the default; replicas are added), bandwidth or model (its size); of results any "
       "column"},
      {"--from", "X",
       "fewest GPUs (default: one replica), lowest bandwidth (1 Gb/s), or fewest "
       "parameters (1e8)"},
      {"--to", "X",
       "most GPUs (default 1024), highest bandwidth (800 Gb/s), or most parameters "
       "(1e12)"},
      {"--quantity", "NAME",
       "speedup (the default), step_time, efficiency or exposed "
       "(communication that nothing hides)"},
      {"--against", "RIVAL", "uncompressed (the default) or remedy, the best one"},
      {"--y", "AXIS",
       "instead of curves: a map of the speedup, --x across and this axis upwards, with the "
       "break-even frontier; of results what curves show (default: speedup), or such an axis"},
      by_option,
      where_option,
      {"--y-from", "Y", "as --from, of that axis"},
      {"--y-to", "Y", "as --to, of that axis"},
      {"--plan", "LABEL", "the strategy of the map; default: the fastest for the job as given"},
      steps_option,
      codecs_option,
      tornado_option,
      {"-o", "FILE", "a picture (.png .svg .pdf) or the gnuplot script (.gp)", Takes::value, true},
      {"--terminal", "", "draws with characters", Takes::nothing},
      characters_option,
      csv_option};
}

PlotRequest read_plot_request(const Arguments& arguments, Session& session) {
  PlotRequest request;
  read_kind(arguments, request, session);
  request.question.axis = read_axis(arguments, x_options, request.question.scaling, session);
  if (request.kind == PlotKind::frontier) {
    request.y = read_axis(arguments, y_options, request.y_range, session);
    if (request.y == request.question.axis) {
      session.diagnostics().error(*request.place, "both axes are the same", {},
                                  "choose two of gpus, bandwidth and model for --x and --y");
    }
  }
  request.plan = arguments.value("--plan");
  if (request.plan && request.kind != PlotKind::frontier) {
    session.diagnostics().error(request.plan->span,
                                "--plan chooses the strategy of a map: add --y");
  }
  read_curves(arguments, request, session);
  check_unused(arguments, request, session);
  read_picture(arguments, request, session);
  return request;
}

void read_picture(const Arguments& arguments, PlotRequest& request, Session& session) {
  request.output = arguments.value("-o");
  read_form(arguments, request, session);
  if (request.output) {
    check_picture(*request.output, session);
  }
  if (!request.output && !request.form && !arguments.has(csv_option.name)) {
    session.diagnostics().error(std::nullopt,
                                "`payoff plot` needs -o FILE, --terminal or --csv FILE", {},
                                "for example `payoff plot EXPERIMENT.yaml -o scaling.svg`");
  }
}

}  // namespace payoff
