// SPDX-License-Identifier: Apache-2.0
#include "cli/import_trace_checks.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace payoff {
namespace {

std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t few = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), few); ++i) {
    text += (i == 0 ? "" : ", ") + backquoted(names[i]);
  }
  return text + (names.size() > few ? ", ..." : "");
}

// Of other programs' traces nothing is known here.
bool is_of_pytorch(const KinetoTrace& trace) {
  return !trace.gpu_events.empty() || !trace.operators.empty() || !trace.launches.empty() ||
         !trace.annotations.empty() || !trace.steps.empty();
}

void check_content(const TraceReport& read, const std::vector<std::string>& foreign,
                   Session& session) {
  for (const std::string& file : foreign) {
    session.diagnostics().error(
        std::nullopt,
        backquoted(file) + " has no event of the kinds that PyTorch's profiler writes", "",
        "kernels are `\"ph\": \"X\", \"cat\": \"kernel\"`");
  }
  for (const OneTrace& one : read.traces) {
    const std::string why = why_no_measurement(one.timeline);
    if (foreign.empty() && !why.empty()) {
      session.diagnostics().warning(std::nullopt, fmt::format("{} is no measurement of a step: {}",
                                                              backquoted(one.trace.file), why));
    }
  }
}

// A table of layers that was asked for has to have some.
void check_layers(const TraceReport& read, const std::vector<std::string>& annotations,
                  const std::optional<Argument>& out, Session& session) {
  const bool any = std::any_of(
      read.layers.layers.begin(), read.layers.layers.end(),
      [](const TracedLayer& each) { return !each.forward.empty() && !each.backward.empty(); });
  if (out && !any) {
    session.diagnostics().error(
        out->span, "no layer of the traces has a forward and a backward pass", "",
        annotations.empty()
            ? "put record_function(\"block 3\") around layers, or profile with_modules"
            : "annotations there are " + some_of(annotations) + ": `--layer FROM=TO`");
  }
  for (const TracedLayer& each : read.layers.layers) {
    if (any && out && (each.forward.empty() || each.backward.empty())) {
      session.diagnostics().warning(
          std::nullopt,
          fmt::format("{} has no {} pass and is left out of the table", backquoted(each.layer),
                      each.forward.empty() ? "forward" : "backward"));
    }
  }
}

void check_names(const std::set<std::string>& unfit, Session& session) {
  if (!unfit.empty()) {
    session.diagnostics().warning(
        std::nullopt,
        fmt::format("{} can be no name of a layer in a table: what {} is of the layer around it",
                    some_of({unfit.begin(), unfit.end()}),
                    unfit.size() == 1 ? "it runs" : "they run"));
  }
}

}  // namespace

void TraceContent::take(const KinetoTrace& trace, const std::vector<LayerRule>& rules) {
  if (!is_of_pytorch(trace)) {
    foreign.push_back(trace.file);
  }
  annotations.insert(annotations.end(), trace.names.begin(), trace.names.end());
  for (const std::string& name : unfit_annotations(trace.names, rules)) {
    unfit.insert(name);
  }
}

void check_traces(const TraceReport& read, const TraceContent& content,
                  const std::optional<Argument>& out, Session& session) {
  check_content(read, content.foreign, session);
  check_layers(read, content.annotations, out, session);
  check_names(content.unfit, session);
}

}  // namespace payoff
