// SPDX-License-Identifier: Apache-2.0
#include "cli/collective_level.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/collective_members.hpp"
#include "cli/option_values.hpp"
#include "cli/topology_file.hpp"
#include "model/topology.hpp"
#include "profiles/library.hpp"
#include "profiles/read_gossip.hpp"
#include "sim/collective_programs.hpp"

namespace payoff {
namespace {

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
  const auto read = read_topology_file(file.text, session, &question.cluster);
  return read && read->graph ? std::optional(read->read.topology) : std::nullopt;
}

void read_program(const Argument& asked, const Arguments& arguments, CollectiveQuestion& question,
                  Session& session) {
  std::vector<std::pair<std::string, sim::OtherProgram>> programs;
  for (int i = 0; i < sim::other_program_count; ++i) {
    const auto program = static_cast<sim::OtherProgram>(i);
    programs.emplace_back(sim::name(program), program);
  }
  question.program = named_value("a program", asked, programs, session);
  if (const auto pinned = arguments.value("--algo")) {
    session.diagnostics().error(pinned->span, "--algo pins NCCL's algorithm, --program is none", {},
                                "leave one of them away");
  }
  if (!question.program) {
    return;
  }
  question.details.collective = question.collective;
  const std::vector<Collective> known = sim::collectives_of(*question.program);
  if (std::find(known.begin(), known.end(), question.collective) == known.end()) {
    std::string names;
    for (const Collective collective : known) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name(collective));
    }
    session.diagnostics().error(
        asked.span, fmt::format("{} is a program of {}, not of {}", sim::name(*question.program),
                                names, name(question.collective)));
  }
}

// A graph by its name, or in a file of the user's own.
void read_neighbours(const Argument& asked, CollectiveQuestion& question, Session& session) {
  if (!is_own_file(asked.text)) {
    std::vector<std::pair<std::string, sim::GossipGraph>> graphs;
    for (int i = 0; i < sim::gossip_graph_count; ++i) {
      const auto graph = static_cast<sim::GossipGraph>(i);
      graphs.emplace_back(sim::name(graph), graph);
    }
    question.details.neighbours =
        named_value("a graph of gossip, nor a .yaml file with one", asked, graphs, session)
            .value_or(sim::GossipGraph::ring);
    return;
  }
  const std::size_t errors = session.diagnostics().error_count();
  auto read = read_gossip(asked.text, session.sources(), session.diagnostics());
  if (!read || session.diagnostics().error_count() > errors) {
    return;
  }
  if (read->ranks != question.group.ranks) {
    session.diagnostics().error(
        read->ranks_span,
        fmt::format("the graph has {} ranks, the group {}", read->ranks, question.group.ranks), {},
        "--ranks, or --nodes and --gpus-per-node, say how many");
  }
  question.details.own_neighbours = std::move(read->neighbours);
}

// What a program is asked for beside its name; of another program it is refused.
void read_details(const Arguments& arguments, CollectiveQuestion& question, Session& session) {
  const auto of = [&](const char* option, sim::OtherProgram program) {
    std::optional<Argument> asked = arguments.value(option);
    if (asked && question.program != program) {
      session.diagnostics().error(asked->span,
                                  fmt::format("{} needs --program {}", option, sim::name(program)));
    }
    return asked;
  };
  if (of("--servers", sim::OtherProgram::parameter_server)) {
    const auto servers =
        integer_value(arguments, "--servers", {1, std::max(1, question.group.ranks - 1)}, session);
    question.details.servers = static_cast<sim::Rank>(servers.value_or(0));
  }
  if (const auto asked = of("--neighbours", sim::OtherProgram::gossip)) {
    read_neighbours(*asked, question, session);
  }
  if (of("--imbalance", sim::OtherProgram::sparse_all_gatherv)) {
    const double most = std::max(1, question.group.ranks);
    question.details.imbalance =
        number_value(arguments, "--imbalance", {1, most}, session).value_or(1);
  }
}

// Options of sends where none are simulated.
void refuse_without_steps(const std::optional<Argument>& option, const char* message,
                          Session& session) {
  if (option) {
    session.diagnostics().error(option->span, message, {}, "prices do not see links one by one");
  }
}

}  // namespace

void read_level(const Arguments& arguments, bool group_is_read, CollectiveQuestion& question,
                Session& session) {
  const std::optional<Argument> asked = arguments.value("--level");
  const std::optional<Argument> file = arguments.value("--topology");
  const std::optional<Argument> program = arguments.value("--program");
  const std::vector<std::pair<std::string, Level>> levels{{"fluid", Level::fluid},
                                                          {"steps", Level::steps}};
  const auto level =
      asked ? named_value("a level", *asked, levels, session) : std::optional(Level::fluid);
  if (program && level != Level::fluid) {
    read_program(*program, arguments, question, session);
  }
  read_details(arguments, question, session);
  if (const auto members = arguments.value("--on-gpus"); members && !file) {
    session.diagnostics().error(members->span, "--on-gpus needs a --topology", {},
                                "without one, --nodes and --gpus-per-node say what is used");
  }
  if (level == Level::fluid) {
    refuse_without_steps(file, "--topology needs --level steps", session);
    refuse_without_steps(program, "--program needs --level steps", session);
    return;
  }
  if (file) {
    question.topology = read_file(*file, question, session);
    read_members(arguments, group_is_read, question, session);
  } else if (question.group.ranks > 1 && !session.diagnostics().has_errors()) {
    question.topology = own_topology(question);
    for (const Problem& problem : check(*question.topology)) {
      session.diagnostics().error(std::nullopt, problem.path + ": " + problem.message, {},
                                  problem.help);
    }
  }
  if (question.group.ranks < 2) {
    if (program) {
      session.diagnostics().error(program->span, "a program needs two ranks or more");
    }
    question.topology.reset();
  }
}

}  // namespace payoff
