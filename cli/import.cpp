// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/import_chakra.hpp"
#include "cli/import_files.hpp"
#include "cli/import_log.hpp"
#include "cli/import_parts.hpp"
#include "cli/import_report.hpp"
#include "cli/import_trace_checks.hpp"
#include "cli/json_output.hpp"
#include "cli/option_values.hpp"

// payoff import: what somebody's own job did, from the logs and traces that its frameworks write.

namespace payoff {
namespace {

constexpr OptionSpec micro_batch_option{"--micro-batch", "N",
                                        "of `kineto`: samples of a micro-batch; -o needs it"};
constexpr OptionSpec tp_option{
    "--tp", "N", "of `kineto`: the degree that was traced; of `chakra`: of the job; default 1"};
constexpr OptionSpec cp_option{"--cp", "N", "the same"};
constexpr OptionSpec ep_option{"--ep", "N", "the same"};
constexpr OptionSpec etp_option{"--etp", "N", "of `kineto`: the same"};
constexpr OptionSpec layer_option{
    "--layer", "FROM=TO",
    "of `kineto`: an annotation and the layer it is; `*` is any text: 'nn.Module: Block_*=block *'",
    Takes::values};

void report_rule(const Argument& rule, const std::string& what, Session& session) {
  session.diagnostics().error(rule.span, backquoted(rule.text) + " " + what, "",
                              "for example `--layer 'nn.Module: Block_*=block *'`");
}

// The last `=` is the sign: names of annotations may have others.
std::vector<LayerRule> rules_of(const Arguments& arguments, Session& session) {
  std::vector<LayerRule> rules;
  for (const Argument& given : arguments.values(layer_option.name)) {
    const std::size_t sign = given.text.rfind('=');
    const std::string from = given.text.substr(0, sign);
    const std::string to = sign == std::string::npos ? "" : given.text.substr(sign + 1);
    const auto stars = [](const std::string& text) {
      return std::count(text.begin(), text.end(), '*');
    };
    if (from.empty() || to.empty()) {
      report_rule(given, "is not FROM=TO", session);
    } else if (stars(from) > 1 || stars(to) > stars(from)) {
      report_rule(given, "has too many `*`", session);
    } else if (!fits_table(to)) {
      report_rule(given, "names a layer that no table can hold", session);
    }
    rules.push_back({from, to});
  }
  const std::vector<LayerRule> usual = usual_layer_rules();
  rules.insert(rules.end(), usual.begin(), usual.end());
  return rules;
}

LayerTimesAt sizes_of(const Arguments& arguments, Session& session) {
  constexpr std::int64_t most = 1 << 20;
  const auto size = [&](const OptionSpec& option, int otherwise) {
    return integer_value(arguments, option.name, {1, most}, session).value_or(otherwise);
  };
  LayerTimesAt at{size(micro_batch_option, 0), size(tp_option, 1), size(cp_option, 1),
                  size(ep_option, 1), size(etp_option, 1)};
  const auto out = arguments.value(import_out_option.name);
  if (out && !arguments.has(micro_batch_option.name)) {
    session.diagnostics().error(out->span, "times of layers need the size of a micro-batch", "",
                                "`--micro-batch N`");
  }
  return at;
}

OneTrace read_trace(const std::string& file, const std::vector<LayerRule>& rules,
                    std::vector<TracedLayers>& layers, TraceContent& content, Session& session) {
  KinetoTrace trace;
  with_import_file(file, session, [&](std::istream& stream) { trace = read_kineto(stream, file); });
  for (const Finding& finding : trace.findings) {
    report_import_finding(finding, session);
  }
  content.take(trace, rules);
  layers.push_back(layers_of(trace, rules));
  TraceTimeline timeline = timeline_of(trace);
  trace.gpu_events = {};
  trace.operators = {};
  trace.launches = {};
  trace.annotations = {};
  return {std::move(trace), std::move(timeline)};
}

ExitCode import_traces(const Arguments& arguments, Session& session) {
  const std::vector<LayerRule> rules = rules_of(arguments, session);
  const LayerTimesAt at = sizes_of(arguments, session);
  TraceReport read;
  TraceContent content;
  std::vector<TracedLayers> layers;
  for (const std::string& file : arguments.behind_action()) {
    read.traces.push_back(read_trace(file, rules, layers, content, session));
  }
  read.layers = join(std::move(layers));
  if (!session.diagnostics().has_errors()) {
    check_traces(read, content, arguments.value(import_out_option.name), session);
  }
  if (session.diagnostics().has_errors()) {
    return session.report();
  }
  nlohmann::ordered_json json = json_envelope("import", session);
  add_trace_json(read, json);
  write_import_result(trace_text(read), json, layer_times_csv(read.layers, at), arguments, session);
  return session.report();
}

ExitCode import_chakra(const Arguments& arguments, Session& session) {
  const auto steps = import_steps(arguments, session);
  ChakraReport report_of;
  for (const std::string& file : arguments.behind_action()) {
    OneChakra one;
    with_import_file(file, session,
                     [&](std::istream& stream) { one.trace = read_chakra(stream, file); });
    for (const Finding& finding : one.trace.findings) {
      report_import_finding(finding, session);
    }
    one.steps = steps.value_or(std::max(1, one.trace.steps));
    report_of.traces.push_back(std::move(one));
  }
  if (session.diagnostics().has_errors()) {
    return session.report();
  }
  for (OneChakra& one : report_of.traces) {
    one.messages = messages_of(one.trace);
    one.replay = replay(one.trace, told_durations(one.trace));
  }
  scale_traces(arguments, report_of, session);
  if (session.diagnostics().has_errors()) {
    return session.report();
  }
  nlohmann::ordered_json json = json_envelope("import", session);
  add_chakra_json(report_of, json);
  write_import_result(chakra_text(report_of), json, std::nullopt, arguments, session);
  return session.report();
}

// What is done, and what is wrong with the values of its options where it cannot be done.
struct ImportAction {
  ExitCode (*run)(const Arguments&, Session&);
  void (*check_values)(const Arguments&, Session&);
};

void check_steps(const Arguments& arguments, Session& session) {
  (void)import_steps(arguments, session);
}

void check_layers(const Arguments& arguments, Session& session) {
  (void)rules_of(arguments, session);
  (void)sizes_of(arguments, session);
}

// Options that mean nothing to what is done.
void check_options(std::string_view action, const Arguments& arguments, Session& session) {
  using Actions = std::vector<std::string>;
  const std::vector<std::pair<OptionSpec, Actions>> of{
      {import_out_option, {"kineto", "nccl-log", "flight-recorder"}},
      {import_steps_option, {"nccl-log", "flight-recorder", "chakra"}},
      {micro_batch_option, {"kineto"}},
      {etp_option, {"kineto"}},
      {layer_option, {"kineto"}},
      {tp_option, {"kineto", "chakra"}},
      {cp_option, {"kineto", "chakra"}},
      {ep_option, {"kineto", "chakra"}},
      {chakra_cluster_option, {"chakra"}},
      {chakra_nodes_option, {"chakra"}},
      {chakra_pp_option, {"chakra"}},
      {chakra_group_option, {"chakra"}},
      {chakra_compress_option, {"chakra"}},
      {chakra_gradient_option, {"chakra"}}};
  for (const auto& [option, actions] : of) {
    const auto given = arguments.value(option.name);
    if (given && std::find(actions.begin(), actions.end(), action) == actions.end()) {
      session.diagnostics().error(
          given->span,
          fmt::format("`{}` is of `payoff import {}`", option.name, fmt::join(actions, "` and `")));
    }
  }
}

ExitCode run_import(const Arguments& arguments, Session& session) {
  const std::vector<std::pair<std::string, ImportAction>> actions{
      {"kineto", {import_traces, check_layers}},
      {"nccl-log", {import_nccl_log, check_steps}},
      {"flight-recorder", {import_flight_recorder, check_steps}},
      {"chakra", {import_chakra, check_steps}}};
  const Argument& word = arguments.positionals().front();
  const auto action = named_value("something that can be imported", word, actions, session);
  if (action && arguments.positionals().size() < 2) {
    session.diagnostics().error(word.span,
                                fmt::format("`{}` takes files, and there is none", word.text));
  }
  if (action) {
    check_options(word.text, arguments, session);
    check_import_files(arguments, session);
  }
  if (!session.diagnostics().has_errors()) {
    return action->run(arguments, session);
  }
  if (action) {
    action->check_values(arguments, session);
  }
  return session.report();
}

}  // namespace

Command import_command() {
  return {
      "import",
      "what a job of your own did, from its logs and traces",
      "payoff import kineto examples/12-own-trace/rank0.json --micro-batch 4 -o layers.csv\n"
      "  payoff import nccl-log examples/12-own-trace/nccl.log --steps 3\n"
      "  payoff import flight-recorder examples/12-own-trace/flight0.json --steps 2\n"
      "  payoff import chakra examples/12-own-trace/rank0.et --cluster p4d-24xlarge --nodes 1,2,4",
      {"ACTION FILE...", "what they are, and the files: one job's, of any of its ranks", 1, 100000},
      {import_out_option, micro_batch_option, tp_option, cp_option, ep_option, etp_option,
       layer_option, import_steps_option, chakra_cluster_option, chakra_nodes_option,
       chakra_pp_option, chakra_group_option, chakra_compress_option, chakra_gradient_option,
       json_option},
      run_import,
      R"(kineto FILE...            traces of PyTorch's profiler: steps, exposed communication,
                          streams, messages, times of layers for `model.layer_times`
nccl-log FILE...          what NCCL prints with NCCL_DEBUG=INFO
                          NCCL_DEBUG_SUBSYS=INIT,COLL: groups, nodes, sizes of messages
flight-recorder FILE...   what PyTorch's Flight Recorder kept of torch.distributed's calls, as
                          JSON, one file a rank: groups, sizes of messages
chakra FILE...            execution traces of Chakra (.et): what their graphs compute and
                          communicate, and with --cluster the same on other numbers of ranks
Times that nccl-tests and other programs measured: `payoff calibrate import`.
)"};
}

}  // namespace payoff
