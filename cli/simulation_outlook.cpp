// SPDX-License-Identifier: Apache-2.0
#include "cli/simulation_outlook.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "cli/output_place.hpp"
#include "cli/simulation_cost.hpp"
#include "cli/simulation_report.hpp"
#include "study/simulation.hpp"

namespace payoff {
namespace {

// More of a timeline than viewers like.
constexpr Bytes large_trace = 300_MB;

}  // namespace

void announce_simulation(const SimulationReport& report, const std::string& folding,
                         const std::optional<Argument>& trace, Session& session) {
  sim::Estimate all;
  for (const PlanSimulation& plan : report.plans) {
    all = together(all, plan.estimate);
  }
  all.trace = trace ? report.plans.back().estimate.trace : 0_B;
  if (trace) {
    const std::filesystem::path folder = target_of(trace->text).parent_path();
    std::error_code unknown;
    const auto space = std::filesystem::space(folder.empty() ? "." : folder, unknown);
    if (!unknown && all.trace > Bytes{static_cast<double>(space.available)}) {
      session.diagnostics().error(
          trace->span,
          fmt::format("the timeline would take about {}, and the disk has {} left",
                      megabytes(all.trace), megabytes(Bytes{static_cast<double>(space.available)})),
          {}, "simulate fewer micro-batches: the pipeline repeats itself");
    } else if (all.trace > large_trace) {
      session.diagnostics().warning(
          trace->span, fmt::format("the timeline takes about {}", megabytes(all.trace)), {},
          "ui.perfetto.dev takes files of some hundred MB: simulate fewer micro-batches");
    }
  }
  if (!session.diagnostics().has_errors()) {
    announce_long_run(all, trace ? " and leaves a valid timeline" : "", folding, session);
  }
}

}  // namespace payoff
