// SPDX-License-Identifier: Apache-2.0
#include "cli/collective_steps.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include <fmt/format.h>

#include "model/units_text.hpp"
#include "sim/collective_programs.hpp"
#include "sim/collective_steps.hpp"
#include "sim/program_count.hpp"
#include "sim/topology.hpp"

namespace payoff {
namespace {

constexpr std::uint64_t most_sends = 50'000'000;  // a ring of 4,096 ranks has 33.5 million

// The graph is that of the ranks that take part.
sim::ProgramRanks ranks_on(const CollectiveQuestion& question, const sim::TopologyGraph& graph) {
  const auto gpus = std::min(question.group.ranks, question.group.ranks_per_node);
  return question.members.empty() ? sim::ranks_on(*question.topology, question.group)
                                  : sim::ranks_of_part(*question.topology, graph.gpu_of_rank,
                                                       static_cast<sim::Rank>(gpus));
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
                                        const sim::ProgramRanks& ranks,
                                        const sim::TopologyGraph& graph) {
  if (question.program) {
    return sim::price_of(*question.program, program, ranks, question.cluster, row.size, graph,
                         *question.topology);
  }
  return sim::price_of(program, row.price, row.size);
}

// What a send takes, all of its up to four simulations together: measured on one core of an
// x86-64 server (docs/performance.md). New partners in every step mean new routes.
Seconds cost_of_send(const sim::Program& program) {
  if (program.has_lone_sends()) {
    return 0.5_us;
  }
  return std::visit(
      [](const auto& kind) {
        using Kind = std::decay_t<decltype(kind)>;
        constexpr bool new_partners =
            std::is_same_v<Kind, sim::PairwiseProgram> || std::is_same_v<Kind, sim::PxnProgram> ||
            std::is_same_v<Kind, sim::TwoShotProgram> || std::is_same_v<Kind, sim::BruckProgram> ||
            std::is_same_v<Kind, sim::HalvingDoublingProgram> ||
            std::is_same_v<Kind, sim::GossipProgram> ||
            std::is_same_v<Kind, sim::ParameterServerProgram>;
        return new_partners ? 5_us : 2_us;
      },
      program.kind());
}

std::string rounded_up(Seconds time) {
  constexpr Seconds minute{60};
  return time <= 2 * minute ? fmt::format("{:.0f} s", std::ceil(time.si))
                            : fmt::format("{:.0f} minutes", std::ceil(time / minute));
}

void announce(std::uint64_t sends, Seconds time, Session& session) {
  constexpr Seconds noticed{2};
  if (time > noticed) {
    session.note(fmt::format("{:.1f} million sends, each simulated up to four times: about {}",
                             static_cast<double>(sends) / 1e6, rounded_up(time)));
  }
}

std::string_view name_of_program(const CollectiveQuestion& question, const CollectiveRow& row) {
  return question.program ? sim::name(*question.program) : name(row.price.algorithm);
}

std::uint64_t sends_of(const CollectiveQuestion& question, const CollectiveRow& row,
                       const sim::ProgramRanks& ranks) {
  return (question.program ? sim::expected_sends(*question.program, ranks, question.details)
                           : sim::expected_sends(question.collective, row.price.algorithm, ranks))
      .value_or(0);
}

std::optional<Span> place_of_ranks(const Arguments& arguments) {
  return span_of(
      arguments.first_of({"--ranks", "--nodes", "--gpus-per-node", "--topology", "--level"}));
}

void report_too_many(const CollectiveQuestion& question, const CollectiveRow& row,
                     std::uint64_t sends, const sim::ProgramRanks& ranks,
                     const Arguments& arguments, Session& session) {
  const bool is_bound = question.program == sim::OtherProgram::sharp;
  session.diagnostics().error(
      place_of_ranks(arguments),
      fmt::format("{} of {} ranks ({}) is {}{} sends; at most {} are simulated",
                  name(question.collective), ranks.ranks, name_of_program(question, row),
                  is_bound ? "more than " : "", sends, most_sends),
      {}, "ask for fewer ranks; prices alone, without --level steps, have no such limit");
}

// Nothing is laid for the sake of a refusal: programs of many ranks take long to lay, too.
bool may_run(const CollectiveQuestion& question, const std::vector<CollectiveRow>& rows,
             const sim::ProgramRanks& ranks, const Arguments& arguments, Session& session) {
  std::uint64_t all = 0;
  std::uint64_t largest = 0;
  const CollectiveRow* of_largest = nullptr;
  for (const CollectiveRow& row : rows) {
    const std::uint64_t sends = sends_of(question, row, ranks);
    all += std::min(sends, std::numeric_limits<std::uint64_t>::max() - all);
    if (sends > largest) {
      largest = sends;
      of_largest = &row;
    }
  }
  if (all <= most_sends) {
    return true;
  }
  if (largest > most_sends) {
    report_too_many(question, *of_largest, largest, ranks, arguments, session);
    return false;
  }
  const std::optional<Argument> sizes = arguments.value("--sizes");
  session.diagnostics().error(
      sizes ? sizes->span : place_of_ranks(arguments),
      fmt::format("these {} sizes are {} sends; at most {} are simulated", rows.size(), all,
                  most_sends),
      {}, fmt::format("ask for fewer sizes (--sizes): one is up to {} sends", largest));
  return false;
}

// Of one row: those of other sizes say nothing new.
void report_too_long(Collective collective, const CollectiveRow& row, const Arguments& arguments,
                     Session& session) {
  const bool alone = row.steps->too_long == sim::CollectiveSteps::TooLong::alone;
  session.diagnostics().error(
      span_of(arguments.value(alone ? "--sizes" : "--topology")),
      fmt::format("{} of {} ({}) takes more than 106 days{}: the simulator's clock ends there",
                  name(collective), to_text(row.size), row.program, alone ? "" : " on these links"),
      {}, alone ? "ask for smaller sizes" : "look for a link with a wrong unit, or a smaller size");
}

// The links that the members of the group send over; what is wrong with them is reported.
std::optional<sim::TopologyGraph> graph_of(const CollectiveQuestion& question, Session& session) {
  sim::BuiltTopology built = sim::build(*question.topology);
  for (const Problem& problem : built.problems) {
    session.diagnostics().error(std::nullopt, problem.path + ": " + problem.message, {},
                                problem.help);
  }
  if (!built.graph || question.members.empty()) {
    return std::move(built.graph);
  }
  return sim::part_of(*built.graph, question.members);
}

// Names the program of every row, or says why there is none, and what all of their sends will take.
// Nothing runs where one of them cannot be laid or has too many.
bool lay_programs(const CollectiveQuestion& question, const sim::TopologyGraph& graph,
                  const sim::ProgramRanks& ranks, const Arguments& arguments,
                  std::vector<CollectiveRow>& rows, Session& session) {
  std::uint64_t sends = 0;
  Seconds time;
  for (CollectiveRow& row : rows) {
    const sim::LaidOrReason laid = program_of(question, row, graph);
    const auto* reason = std::get_if<std::string>(&laid);
    if (reason != nullptr && question.program) {
      session.diagnostics().error(arguments.value("--program")->span,
                                  fmt::format("{} cannot be laid on these ranks: {}",
                                              sim::name(*question.program), *reason));
      return false;  // of every size the same
    }
    if (reason != nullptr) {
      row.no_steps = *reason;
      continue;
    }
    const sim::Program& program = std::get<sim::LaidProgram>(laid).program;
    row.program = program.name();
    // Trees that are packed on meshes are known once they are laid.
    const std::uint64_t count = sim::send_count(program);
    if (count > most_sends) {
      report_too_many(question, row, count, ranks, arguments, session);
      return false;
    }
    sends += count;
    time += static_cast<double>(count) * cost_of_send(program);
  }
  announce(sends, time, session);
  return true;
}

}  // namespace

void add_steps(const CollectiveQuestion& question, const Arguments& arguments,
               std::vector<CollectiveRow>& rows, Session& session) {
  // On all of a topology, who takes part is known before its links are.
  const bool on_all = question.members.empty();
  if (on_all && !may_run(question, rows, sim::ranks_on(*question.topology, question.group),
                         arguments, session)) {
    return;
  }
  const std::optional<sim::TopologyGraph> graph = graph_of(question, session);
  if (!graph) {
    return;
  }
  const sim::ProgramRanks ranks = ranks_on(question, *graph);
  if ((!on_all && !may_run(question, rows, ranks, arguments, session)) ||
      !lay_programs(question, *graph, ranks, arguments, rows, session)) {
    return;
  }
  const Seconds latency = sim::step_latency(ranks, question.cluster);
  for (CollectiveRow& row : rows) {
    if (!row.no_steps.empty() || row.price.time <= 0_s || row.size <= 0_B) {
      continue;
    }
    const sim::LaidOrReason laid = program_of(question, row, *graph);
    const auto& known = std::get<sim::LaidProgram>(laid);
    row.steps =
        sim::run_steps(known, row.size, price_of(question, row, known.program, ranks, *graph),
                       latency, *graph, *question.topology);
    if (row.steps->too_long != sim::CollectiveSteps::TooLong::no) {
      session.started();
      report_too_long(question.collective, row, arguments, session);
      return;
    }
  }
}

}  // namespace payoff
