// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "cli/chart.hpp"
#include "cli/experiment_input.hpp"
#include "cli/plot_request.hpp"
#include "cli/session.hpp"
#include "cli/typed_form.hpp"

// The pictures of `payoff plot`, each from the request and the experiment that was read.

namespace payoff {

struct PlotView {
  std::function<std::string(Picture, const std::string& output)> script;
  std::function<std::string(const TypedForm&)> typed;  // on a terminal
  std::string csv;
};

// For cli/picture_file.hpp.
[[nodiscard]] inline std::string gnuplot_script(const PlotView& view, Picture picture,
                                                const std::string& output) {
  return view.script(picture, output);
}

// Curves against GPUs, bandwidth or size of the model.
[[nodiscard]] PlotView view_curves(const ReadExperiment& read, const PlotRequest& request);
// The speedup of one plan over two of these, with the lines on which it breaks even. nullopt where
// a range has fewer than two jobs, or there is no plan: that is reported.
[[nodiscard]] std::optional<PlotView> view_frontier(const ReadExperiment& read,
                                                    const PlotRequest& request, Session& session);
// What decides the verdict on the best plan; nullopt where nothing does: that is reported.
[[nodiscard]] std::optional<PlotView> view_tornado(const ReadExperiment& read,
                                                   const PlotRequest& request, Session& session);
// The parts of a step, a bar for each plan and for the best remedy.
[[nodiscard]] PlotView view_steps(const ReadExperiment& read);
// How fast codecs are against the size of a message, beside memory and wire; nullopt where no plan
// compresses gradients that are sent: that is reported.
[[nodiscard]] std::optional<PlotView> view_codecs(const ReadExperiment& read,
                                                  const PlotRequest& request, Session& session);

}  // namespace payoff
