// SPDX-License-Identifier: Apache-2.0
#include "cli/collective_steps.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "cli/option_values.hpp"
#include "model/topology.hpp"
#include "profiles/read_topology.hpp"
#include "sim/collective_steps.hpp"
#include "sim/routing.hpp"
#include "sim/topology.hpp"

namespace payoff {
namespace {

constexpr std::uint64_t most_sends = 10'000'000;

enum class Level { fluid, steps };

// Only the GPUs of the group: a server has as many as take part.
Topology own_topology(const CollectiveQuestion& question) {
  Cluster cluster = question.cluster;
  cluster.gpus_per_node = std::min(question.group.ranks, question.group.ranks_per_node);
  Topology topology = topology_of(cluster);
  topology.balance = Balance::ideal;
  return topology;
}

std::optional<Topology> read_file(const Argument& file, const CollectiveQuestion& question,
                                  Session& session) {
  const auto read =
      read_topology(file.text, session.sources(), session.diagnostics(), &question.cluster);
  if (!read) {
    return std::nullopt;
  }
  const std::size_t gpus = read->topology.gpus();
  if (!session.diagnostics().has_errors() &&
      gpus != static_cast<std::size_t>(question.group.ranks)) {
    session.diagnostics().error(
        file.span,
        fmt::format("the topology has {} GPUs, the group {} ranks", gpus, question.group.ranks));
    return std::nullopt;
  }
  return read->topology;
}

}  // namespace

void read_level(const Arguments& arguments, CollectiveQuestion& question, Session& session) {
  const std::optional<Argument> asked = arguments.value("--level");
  const std::optional<Argument> file = arguments.value("--topology");
  const std::vector<std::pair<std::string, Level>> levels{{"fluid", Level::fluid},
                                                          {"steps", Level::steps}};
  const Level level =
      asked ? named_value("a level", *asked, levels, session).value_or(Level::fluid) : Level::fluid;
  if (level == Level::fluid) {
    if (file && !session.diagnostics().has_errors()) {
      session.diagnostics().error(file->span, "--topology needs --level steps", {},
                                  "prices do not see links one by one");
    }
    return;
  }
  if (question.group.ranks < 2 || session.diagnostics().has_errors()) {
    return;
  }
  question.topology = file ? read_file(*file, question, session) : own_topology(question);
  if (question.topology && !session.diagnostics().has_errors()) {
    for (const Problem& problem : check(*question.topology)) {
      session.diagnostics().error(file ? std::optional(file->span) : std::nullopt,
                                  problem.path + ": " + problem.message, {}, problem.help);
    }
  }
}

void add_steps(const CollectiveQuestion& question, std::vector<CollectiveRow>& rows,
               Session& session) {
  const sim::BuiltTopology built = sim::build(*question.topology);
  for (const Problem& problem : built.problems) {
    session.diagnostics().error(std::nullopt, problem.path + ": " + problem.message, {},
                                problem.help);
  }
  if (!built.graph) {
    return;
  }
  sim::Routing routing(*built.graph, question.topology->balance, question.topology->seed);
  std::uint64_t sends = 0;
  for (CollectiveRow& row : rows) {
    auto program = sim::program_of(question.collective, row.price.algorithm, question.group.ranks,
                                   *built.graph);
    if (const auto* reason = std::get_if<std::string>(&program)) {
      row.no_steps = *reason;
      continue;
    }
    const auto& known = std::get<sim::Program>(program);
    row.program = known.name();
    sends += sim::send_count(known);
    if (sends > most_sends) {
      session.diagnostics().error(std::nullopt,
                                  fmt::format("these sizes are more than {} sends", most_sends), {},
                                  "ask for fewer sizes (--sizes) or ranks");
      return;
    }
  }
  for (CollectiveRow& row : rows) {
    if (!row.no_steps.empty() || row.price.time <= 0_s || row.size <= 0_B) {
      continue;
    }
    const auto program = sim::program_of(question.collective, row.price.algorithm,
                                         question.group.ranks, *built.graph);
    row.steps = sim::run_steps(std::get<sim::Program>(program), row.size, row.price, routing);
  }
}

}  // namespace payoff
