// SPDX-License-Identifier: Apache-2.0
#include "cli/collective_steps.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include <fmt/format.h>

#include "model/units_text.hpp"
#include "sim/collective_programs.hpp"
#include "sim/collective_steps.hpp"
#include "sim/topology.hpp"

namespace payoff {
namespace {

constexpr std::uint64_t most_sends = 50'000'000;  // a ring of 4,096 ranks has 33.5 million
constexpr std::uint64_t sends_of_a_minute = 5'000'000;

// The graph is that of the ranks that take part.
sim::ProgramRanks ranks_on(const CollectiveQuestion& question, const sim::TopologyGraph& graph) {
  const auto gpus = std::min(question.group.ranks, question.group.ranks_per_node);
  return question.members.empty()
             ? sim::ranks_on(*question.topology, question.group)
             : sim::ranks_of_part(*question.topology, graph, static_cast<sim::Rank>(gpus));
}

sim::LaidOrReason program_of(const CollectiveQuestion& question, const CollectiveRow& row,
                             const sim::TopologyGraph& graph) {
  const sim::ProgramRanks ranks = ranks_on(question, graph);
  return question.program ? sim::program_of(*question.program, ranks, *question.topology, graph,
                                            question.details)
                          : sim::program_of(question.collective, row.price.algorithm, ranks,
                                            *question.topology, graph);
}

std::optional<sim::StepsPrice> price_of(const CollectiveQuestion& question,
                                        const CollectiveRow& row, const sim::Program& program,
                                        const sim::ProgramRanks& ranks) {
  if (question.program) {
    return sim::price_of(*question.program, program, ranks, question.cluster, row.size);
  }
  return question.collective == Collective::all_to_all
             ? sim::price_of_pairs(program, row.price, ranks, question.cluster, row.size)
             : sim::price_of(program, row.price, row.size);
}

// Of one row: those of other sizes say nothing new.
void report_too_long(Collective collective, const CollectiveRow& row, const Arguments& arguments,
                     Session& session) {
  const bool alone = row.steps->too_long == sim::CollectiveSteps::TooLong::alone;
  const auto blamed = arguments.value(alone ? "--sizes" : "--topology");
  session.diagnostics().error(
      blamed ? std::optional(blamed->span) : std::nullopt,
      fmt::format("{} of {} ({}) takes more than 106 days{}: the simulator's clock ends there",
                  name(collective), to_text(row.size), row.program, alone ? "" : " on these links"),
      {}, alone ? "ask for smaller sizes" : "look for a link with a wrong unit, or a smaller size");
}

}  // namespace

void add_steps(const CollectiveQuestion& question, const Arguments& arguments,
               std::vector<CollectiveRow>& rows, Session& session) {
  const sim::BuiltTopology built = sim::build(*question.topology);
  for (const Problem& problem : built.problems) {
    session.diagnostics().error(std::nullopt, problem.path + ": " + problem.message, {},
                                problem.help);
  }
  if (!built.graph) {
    return;
  }
  const sim::TopologyGraph graph =
      question.members.empty() ? *built.graph : sim::part_of(*built.graph, question.members);
  const sim::ProgramRanks ranks = ranks_on(question, graph);
  std::uint64_t sends = 0;
  for (CollectiveRow& row : rows) {
    const sim::LaidOrReason laid = program_of(question, row, graph);
    const auto* reason = std::get_if<std::string>(&laid);
    if (reason != nullptr && question.program) {
      session.diagnostics().error(arguments.value("--program")->span,
                                  fmt::format("{} cannot be laid on these ranks: {}",
                                              sim::name(*question.program), *reason));
      return;  // of every size the same
    }
    if (reason != nullptr) {
      row.no_steps = *reason;
      continue;
    }
    const sim::Program& program = std::get<sim::LaidProgram>(laid).program;
    row.program = program.name();
    sends += sim::send_count(program);
    if (sends > most_sends) {
      session.diagnostics().error(std::nullopt,
                                  fmt::format("these sizes are more than {} sends", most_sends), {},
                                  "ask for fewer sizes (--sizes) or ranks");
      return;
    }
  }
  if (sends > sends_of_a_minute) {
    session.note(fmt::format(
        "{:.1f} million sends, each simulated up to four times: up to {} minutes",
        static_cast<double>(sends) / 1e6, (sends + sends_of_a_minute - 1) / sends_of_a_minute));
  }
  const Seconds latency = sim::step_latency(ranks, question.cluster);
  for (CollectiveRow& row : rows) {
    if (!row.no_steps.empty() || row.price.time <= 0_s || row.size <= 0_B) {
      continue;
    }
    const sim::LaidOrReason laid = program_of(question, row, graph);
    const auto& known = std::get<sim::LaidProgram>(laid);
    row.steps = sim::run_steps(known, row.size, price_of(question, row, known.program, ranks),
                               latency, graph, *question.topology);
    if (row.steps->too_long != sim::CollectiveSteps::TooLong::no) {
      report_too_long(question.collective, row, arguments, session);
      return;
    }
  }
}

}  // namespace payoff
