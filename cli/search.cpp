// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/experiment_input.hpp"
#include "cli/json_output.hpp"
#include "cli/option_values.hpp"
#include "cli/profile_library.hpp"
#include "cli/search_report.hpp"
#include "cli/trace_file.hpp"
#include "cli/usual_plans.hpp"
#include "study/plan_layouts.hpp"

// payoff search: the layouts of a job and its compression plans, together.

namespace payoff {
namespace {

using Clock = std::chrono::steady_clock;

constexpr OptionSpec keep_option{
    "--keep", "KEY", "tp, zero, micro_batch ...: stays as the job has it; several times",
    Takes::values};
constexpr OptionSpec finalists_option{
    "--finalists", "N", "of either kind, run by the simulator too; default 4, at most 16",
    Takes::value};

constexpr std::string_view search_details =
    "Every layout on the same GPUs with the same global batch is a candidate, uncompressed and\n"
    "with every plan that the layout can have: the experiment's, those of --compress, or, where "
    "it\n"
    "names none, PowerSGD of rank 4, 8-bit QSGD, top-k of 1 %, signs, casts to 16 and 8 bits, "
    "4-bit\n"
    "gradients with and without 8-bit weights for sharded layouts (ZeRO++), and DGC and signs\n"
    "between nodes alone, on the GPU and by the host. A plan that no layout can have is refused.\n"
    "Candidates that do not fit the memory are left out. Ctrl-C ends the search with the best so "
    "far.\n"
    "docs/search.md says what is tried, and why what is not priced cannot be among the best.\n"
    "\n";

// On a terminal, from two seconds on.
class SearchProgress {
 public:
  explicit SearchProgress(Session& session) : session_(session) {}

  void at(std::uint64_t decided, std::uint64_t known) {
    const auto now = Clock::now();
    if (now < next_) {
      return;
    }
    next_ = now + std::chrono::milliseconds(200);
    session_.progress(fmt::format("{} of {} candidates decided", decided, known));
    shown_ = true;
  }
  void end() {
    if (shown_) {
      session_.progress({});
    }
  }

 private:
  Session& session_;
  Clock::time_point next_ = Clock::now() + std::chrono::seconds(2);
  bool shown_{};
};

std::vector<LayoutAxis> read_kept(const Arguments& arguments, Session& session) {
  std::vector<std::pair<std::string, LayoutAxis>> names;
  names.reserve(all_layout_axes.size());
  for (const LayoutAxis axis : all_layout_axes) {
    names.emplace_back(name(axis), axis);
  }
  std::vector<LayoutAxis> kept;
  for (const Argument& argument : arguments.values(keep_option.name)) {
    if (const auto axis = named_value("a part of a layout", argument, names, session)) {
      kept.push_back(*axis);
    }
  }
  return kept;
}

ExitCode run_search(const Arguments& arguments, Session& session) {
  const Library library = find_library();
  SearchAnswerOptions options;
  options.search.keep = read_kept(arguments, session);
  options.search.finalists = static_cast<std::size_t>(
      integer_value(arguments, finalists_option.name, {1, 16}, session).value_or(4));
  options.search.threads = static_cast<unsigned>(
      integer_value(arguments, threads_option.name, {1, 1024}, session).value_or(0));
  std::optional<ReadExperiment> read =
      read_experiment_input(arguments, library, session, NodeKinds::one,
                            [&](const Experiment& experiment, const CompressionPlan& plan) {
                              return has_layout_for(plan, experiment, options.search.keep);
                            });
  if (!read || session.diagnostics().has_errors()) {
    return session.report();
  }
  warn_of_default_batch(*read, session);
  add_usual_plans(*read, library, session);
  options.limits = read->limits;
  SearchProgress progress(session);
  options.search.progress = [&](std::uint64_t decided, std::uint64_t known) {
    progress.at(decided, known);
  };
  const InterruptGuard guard;
  InterruptGuard::begin_polling();
  options.search.stop = &InterruptGuard::flag();
  const SearchAnswer answer = answer_search(read->experiment, read->cluster_state, options);
  progress.end();
  const SearchReport report{*read, library, answer, options};
  OutputFiles files;
  deliver({search_text(report), search_json(report, session), {}}, arguments, files, session);
  if (!answer.found.is_complete) {
    return session.report_failure("interrupted: the best so far");
  }
  return session.report();
}

}  // namespace

Command search_command() {
  return {"search",
          "finds the layout and the compression plan of the shortest step within the memory",
          "payoff search examples/05-gpt3-175b-a100/experiment.yaml\n"
          "  payoff search --model llama-2-7b --cluster dgx-a100 --nodes 4 --global-batch 128 "
          "--keep micro_batch",
          {"EXPERIMENT", "an experiment file; options stand for its keys, and go over it", 0, 1},
          experiment_options({keep_option, finalists_option, threads_option, json_option}),
          run_search,
          search_details};
}

}  // namespace payoff
