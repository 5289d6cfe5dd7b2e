// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/diff_input.hpp"
#include "cli/experiment_input.hpp"
#include "cli/input_json.hpp"
#include "cli/json_output.hpp"
#include "cli/option_values.hpp"
#include "cli/profile_library.hpp"
#include "cli/switch_report.hpp"

// payoff switch: what it costs to change the layout of a running training, and when that is won
// back.

namespace payoff {
namespace {

constexpr OptionSpec storage_option{
    "--storage", "RATE",
    "what storage reads or writes for all nodes together: '20 GB/s' (required)", Takes::value};
constexpr OptionSpec node_option{"--storage-per-node", "RATE",
                                 "what one node reads or writes; default: as much", Takes::value};
constexpr OptionSpec latency_option{"--storage-latency", "TIME",
                                    "to open one file; default: nothing", Takes::value};
constexpr OptionSpec convert_option{
    "--convert-nodes", "N", "that convert the checkpoint, a process for each GPU; default 1",
    Takes::value};
constexpr OptionSpec restart_option{
    "--restart", "TIME", "from the end of the old job to the start of loading; default: nothing",
    Takes::value};

constexpr QuantityRange<Bandwidth> storage_rates{Bandwidth{1e3}, Bandwidth{1e15},
                                                 "storage: 1 KB/s to 1000 TB/s"};
constexpr QuantityRange<Seconds> file_times{1_ns, Seconds{3600}, "opening a file: 1 ns to 1 h"};
constexpr QuantityRange<Seconds> restart_times{1_us, Seconds{30 * 86400.0},
                                               "a restart: 1 us to 720 h"};

SwitchOptions read_options(const Arguments& arguments, Session& session) {
  SwitchOptions options;
  if (!arguments.has(storage_option.name)) {
    session.diagnostics().error(std::nullopt, "`payoff switch` needs --storage", {},
                                "for example `--storage '20 GB/s'`, of all nodes together");
  }
  const auto rate = [&](const OptionSpec& option) {
    return quantity_value(arguments, option.name, storage_rates, session).value_or(Bandwidth{});
  };
  options.storage.total = rate(storage_option);
  options.storage.per_node = rate(node_option);
  options.storage.per_file =
      quantity_value(arguments, latency_option.name, file_times, session).value_or(0_s);
  options.restart =
      quantity_value(arguments, restart_option.name, restart_times, session).value_or(0_s);
  options.convert_nodes =
      integer_value(arguments, convert_option.name, {1, 1 << 20}, session).value_or(1);
  return options;
}

void report_problems(const DiffSides& sides, Session& session) {
  for (const Problem& problem : check_switch(sides.a.read.experiment, sides.b.read.experiment)) {
    session.diagnostics().error(sides.b.read.positions.find(problem.path),
                                fmt::format("`{}` {}", problem.path, problem.message), {},
                                problem.help);
  }
}

ExitCode run_switch(const Arguments& arguments, Session& session) {
  const Library library = find_library();
  const SwitchOptions options = read_options(arguments, session);
  const auto sides = read_diff_sides(arguments, library, session);
  if (sides) {
    report_problems(*sides, session);
  }
  if (!sides || session.diagnostics().has_errors()) {
    return session.report();
  }
  const SwitchAnswer answer = switch_cost(sides->a.read.experiment, sides->a.plan(),
                                          sides->b.read.experiment, sides->b.plan(), options);
  const SwitchReport report{answer,
                            sides->a.file + ", " + sides->a.side.plan,
                            sides->b.file + ", " + sides->b.side.plan,
                            sides->a.side.prediction.memory.codec_state,
                            options.convert_nodes,
                            sides->a.uses(),
                            sides->b.uses()};
  nlohmann::ordered_json json = json_envelope("switch", session);
  json["experiments"] = {experiment_json(sides->a.read), experiment_json(sides->b.read)};
  json["profiles"] = profiles_json(library, session.sources());
  add_switch_json(report, json);
  OutputFiles files;
  deliver({switch_text(report), json.dump(2) + "\n", {}}, arguments, files, session);
  return session.report();
}

}  // namespace

Command switch_command() {
  return {"switch",
          "says what changing a running training costs, and when it is won back",
          "payoff switch examples/04-llama2-7b-a100/experiment.yaml --with layout.tp=2 --with "
          "layout.dp=32 --storage '20 GB/s' --storage-per-node '5 GB/s' --restart 5min\n"
          "  payoff switch examples/04-llama2-7b-a100/experiment.yaml --against signsgd --storage "
          "'20 GB/s'",
          {"A [B]", "experiment files: what runs, and what would; without B: A", 1, 2},
          {diff_plan_option, against_option, with_option, storage_option, node_option,
           latency_option, convert_option, restart_option, json_option},
          run_switch,
          "The training is saved as it is sharded, converted into one file for each tensor where\n"
          "the other layout shards otherwise (universal checkpoints), started again, and loaded.\n"
          "Nothing is trained meanwhile. Codecs lose their error feedback.\n"};
}

}  // namespace payoff
