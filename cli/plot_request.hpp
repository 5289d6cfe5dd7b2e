// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/experiment_input.hpp"
#include "cli/session.hpp"
#include "cli/speedup_chart.hpp"

// What `payoff plot` is asked for.

namespace payoff {

enum class PlotKind { curves, frontier, tornado, steps, codecs };

struct PlotRequest {
  PlotKind kind{};
  std::optional<Span> place;  // of the option that chose the kind
  PlotQuestion question;      // of curves; its axis is the horizontal one of a frontier
  PlotAxis y{};               // of a frontier
  ScalingOptions y_range;
  std::optional<Argument> plan;
  std::optional<Argument> output;
  std::optional<TypedForm> form;  // of a picture of characters
};

[[nodiscard]] std::vector<OptionSpec> plot_options();

// What is wrong is reported.
[[nodiscard]] PlotRequest read_plot_request(const Arguments& arguments, Session& session);

// What of it every picture has: where it goes.
void read_picture(const Arguments& arguments, PlotRequest& request, Session& session);

// Reports what the axes cannot show of this experiment.
void check_axes(const ReadExperiment& read, const PlotRequest& request, const Arguments& arguments,
                Session& session);

}  // namespace payoff
