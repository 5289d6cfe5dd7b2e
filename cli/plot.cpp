// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/engine_option.hpp"
#include "cli/experiment_input.hpp"
#include "cli/json_output.hpp"
#include "cli/picture_file.hpp"
#include "cli/plot_results.hpp"
#include "cli/plot_view.hpp"
#include "cli/priced_uses.hpp"
#include "cli/profile_library.hpp"

// payoff plot: pictures of an experiment. START READING HERE; cli/plot_request.hpp says what may be
// asked for, cli/plot_view.hpp has a function for each picture. Those of results that a sweep left
// begin in cli/plot_results.hpp.

namespace payoff {
namespace {

std::optional<PlotView> view_of(const ReadExperiment& read, const PlotRequest& request,
                                Session& session) {
  switch (request.kind) {
    case PlotKind::frontier:
      return view_frontier(read, request, session);
    case PlotKind::tornado:
      return view_tornado(read, request, session);
    case PlotKind::steps:
      return view_steps(read);
    case PlotKind::codecs:
      return view_codecs(read, request, session);
    case PlotKind::curves:
      break;
  }
  return view_curves(read, request);
}

ExitCode run_plot(const Arguments& arguments, Session& session) {
  const std::vector<Argument>& given = arguments.positionals();
  if (std::any_of(given.begin(), given.end(),
                  [](const Argument& file) { return holds_results(file.text); })) {
    return plot_results(arguments, session);
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i].text.ends_with(".csv")) {
      session.diagnostics().error(given[i].span, "a table is no experiment, and no results", {},
                                  "of a sweep `payoff plot` draws the .jsonl that `-o` wrote");
      return session.report();
    }
    if (i > 0) {
      session.diagnostics().error(given[i].span, "`payoff plot` draws one experiment");
    }
  }
  const Library library = find_library();
  const PlotRequest request = read_plot_request(arguments, session);
  const auto read = read_experiment_input(arguments, library, session, NodeKinds::several);
  if (read) {
    check_axes(*read, request, arguments, session);
  }
  if (!read || session.diagnostics().has_errors()) {
    return session.report();
  }
  warn_of_default_batch(*read, session);
  warn_of_unseen_state(read->cluster_state, {}, session);
  if (const std::string beyond =
          extrapolation_sentence(uses_of_plans(PreparedExperiment(read->experiment)));
      !beyond.empty()) {
    session.note("of the experiment as it is " + beyond);
  }
  const std::optional<PlotView> view = view_of(*read, request, session);
  if (!view) {
    return session.report();
  }
  OutputFiles files;
  if (request.output) {
    add_picture(*view, request.output->text, files);
  }
  const std::string shown = request.form ? view->typed(*request.form) : "";
  deliver({shown, {}, view->csv}, arguments, files, session);
  return session.report();
}

}  // namespace

Command plot_command() {
  return {"plot",
          "draws curves against GPUs, bandwidth or model size, break-even maps, the parts of a "
          "step, codecs",
          "payoff plot examples/01-resnet50-v100/experiment.yaml --x bandwidth -o scaling.svg\n"
          "  payoff plot runs.jsonl --x nodes --y bandwidth -o map.svg",
          {"FILE",
           "an experiment file (options stand for its keys, and go over it), or results of "
           "`payoff sweep`",
           0, 1'000'000},
          experiment_options(plot_options()),
          run_plot,
          experiment_details};
}

}  // namespace payoff
