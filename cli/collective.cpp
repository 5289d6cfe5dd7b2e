// SPDX-License-Identifier: Apache-2.0
#include "model/collective.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/collective_level.hpp"
#include "cli/collective_output.hpp"
#include "cli/collective_steps.hpp"
#include "cli/commands.hpp"
#include "cli/json_output.hpp"
#include "cli/option_values.hpp"
#include "cli/output_guard.hpp"
#include "cli/profile_library.hpp"
#include "model/group_paths.hpp"
#include "profiles/read_fitted.hpp"
#include "profiles/read_hardware.hpp"

// payoff collective: the table that nccl-tests would print on this cluster, predicted.

namespace payoff {
namespace {

const std::vector<std::pair<std::string, Collective>>& collectives() {
  static const std::vector<std::pair<std::string, Collective>> names = [] {
    std::vector<std::pair<std::string, Collective>> result;
    for (int i = 0; i < collective_count; ++i) {
      const auto collective = static_cast<Collective>(i);
      result.emplace_back(name(collective), collective);
    }
    return result;
  }();
  return names;
}

template <class Choice>
std::vector<std::pair<std::string, Choice>> choices(Choice first, Choice last) {
  std::vector<std::pair<std::string, Choice>> result;
  for (int i = static_cast<int>(first); i <= static_cast<int>(last); ++i) {
    result.emplace_back(name(static_cast<Choice>(i)), static_cast<Choice>(i));
  }
  return result;
}

// Ranks, nodes and GPUs per node: any two give the third.
Group read_group(const Arguments& arguments, Cluster& cluster, Session& session) {
  const IntegerRange count{1, 1 << 20};
  const std::optional<int> nodes = integer_value(arguments, "--nodes", count, session);
  const std::optional<int> per_node = integer_value(arguments, "--gpus-per-node", count, session);
  const std::optional<int> ranks = integer_value(arguments, "--ranks", count, session);
  const std::int64_t asked =
      std::int64_t{nodes.value_or(1)} * per_node.value_or(cluster.gpus_per_node);
  if (!ranks && asked > count.max) {
    session.diagnostics().error(
        arguments.value(nodes ? "--nodes" : "--gpus-per-node")->span,
        fmt::format("{} nodes of {} GPUs make {} ranks; 1 to {} are modelled", nodes.value_or(1),
                    per_node.value_or(cluster.gpus_per_node), asked, count.max));
    return {};
  }
  Group group;
  group.ranks_per_node = per_node.value_or(cluster.gpus_per_node);
  if (ranks && !nodes) {
    group.ranks_per_node = std::min(*ranks, group.ranks_per_node);
  } else if (ranks && nodes && !per_node) {
    group.ranks_per_node = (*ranks + *nodes - 1) / *nodes;
  }
  group.ranks = ranks.value_or(nodes.value_or(1) * group.ranks_per_node);
  group.rivals = integer_value(arguments, "--rivals", count, session).value_or(1);
  if (nodes && group.nodes() != *nodes) {
    session.diagnostics().error(arguments.value("--ranks")->span,
                                fmt::format("{} ranks are not {} nodes of {} GPUs", group.ranks,
                                            *nodes, group.ranks_per_node),
                                {}, "leave one of --ranks, --nodes and --gpus-per-node away");
  }
  cluster.nodes = group.nodes();
  return group;
}

// A group that the cluster cannot hold, said under the option that asked for it.
void report_group_problems(const Problems& problems, const Arguments& arguments, Session& session) {
  const auto place =
      span_of(arguments.first_of({"--gpus-per-node", "--ranks", "--nodes", "--cluster"}));
  for (const Problem& problem : problems) {
    session.diagnostics().error(place, problem.message, {}, problem.help);
  }
}

// Calls of several operations a GPU launch more than one kernel each, which nobody measured well.
void read_launches(const Arguments& arguments, CollectiveQuestion& question, Session& session) {
  const auto asked = arguments.value("--one-process");
  if (!asked) {
    return;
  }
  if (!is_one_kernel(question.collective)) {
    session.diagnostics().error(
        asked->span, fmt::format("--one-process has no prices of {}", name(question.collective)));
    return;
  }
  question.one_process = read_host_law({find_library(), session.sources(), session.diagnostics()});
}

std::optional<CollectiveQuestion> read_question(const Arguments& arguments, Session& session) {
  CollectiveQuestion question;
  const Argument& operation = arguments.positionals().front();
  const auto collective = named_value("a collective", operation, collectives(), session);
  question.collective = collective.value_or(Collective::all_reduce);
  question.sizes = series_value<Bytes>(arguments, "--sizes", "8B..8GiB:x2", message_sizes, session);
  if (const auto algorithm = arguments.value("--algo")) {
    question.algorithm = named_value("an algorithm", *algorithm,
                                     choices(Algorithm::ring, Algorithm::direct), session);
  }
  if (const auto protocol = arguments.value("--proto")) {
    question.protocol =
        named_value("a protocol", *protocol, choices(Protocol::ll, Protocol::simple), session);
  }
  question.textbook = arguments.has("--textbook");
  read_launches(arguments, question, session);
  if (question.textbook && collective && *collective != Collective::all_reduce) {
    session.diagnostics().error(operation.span, "--textbook has prices of all_reduce only");
  }
  const std::optional<Argument> asked = arguments.value("--cluster");
  if (!asked) {
    session.diagnostics().error(std::nullopt, "`payoff collective` needs --cluster", {},
                                "`payoff profiles list cluster` names them");
    return std::nullopt;
  }
  const Library library = find_library();
  const auto cluster =
      read_cluster(asked->text, asked->span, {library, session.sources(), session.diagnostics()});
  if (!cluster) {
    return std::nullopt;
  }
  question.cluster = cluster->value;
  const std::size_t errors = session.diagnostics().error_count();
  question.group = read_group(arguments, question.cluster, session);
  const bool group_is_read = session.diagnostics().error_count() == errors;
  (void)inputs_are_kept(arguments, session);
  if (!session.diagnostics().has_errors()) {
    report_group_problems(check_group(question.cluster, question.group), arguments, session);
  }
  read_level(arguments, group_is_read, question, session);
  return session.diagnostics().has_errors() ? std::nullopt : std::optional(question);
}

// What a pin leaves open is NCCL's choice, as with NCCL_ALGO and NCCL_PROTO.
std::optional<CollectivePrice> price(const CollectiveModel& model,
                                     const CollectiveQuestion& question, Bytes size) {
  auto price =
      model.price_pinned(question.collective, size, question.algorithm.value_or(Algorithm::none),
                         question.protocol.value_or(Protocol::none));
  if (price && question.one_process) {
    price = launched_by_one_process(*price,
                                    std::min(question.group.ranks, question.group.ranks_per_node),
                                    *question.one_process);
  }
  return price;
}

std::vector<CollectiveRow> predict_rows(const CollectiveQuestion& question) {
  const CollectiveModel model(question.cluster, question.group);
  const double factor = bus_factor(question.collective, question.group.ranks);
  std::vector<CollectiveRow> rows;
  for (const Bytes size : question.sizes) {
    const std::optional<CollectivePrice> priced = price(model, question, size);
    if (!priced) {
      return {};
    }
    CollectiveRow row{size, *priced, {}, {}, {}};
    if (question.textbook) {
      row.textbook = textbook_all_reduce(question.cluster, question.group, size);
    }
    if (row.price.time > Seconds{}) {
      row.algbw = size / row.price.time;
      row.busbw = row.algbw * factor;
    }
    rows.push_back(row);
  }
  return rows;
}

// Why NCCL has no such algorithm there; empty where it is the protocol that does not go with it.
std::string why_not(const CollectiveQuestion& question) {
  const Algorithm algorithm = question.algorithm.value_or(Algorithm::none);
  const bool one_node = question.group.nodes() == 1;
  const bool in_switches = algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree;
  if (in_switches && !question.cluster.fabric.nvls) {
    return fmt::format("the switches of {} reduce nothing themselves (NVLS)",
                       question.cluster.fabric.name);
  }
  if (algorithm == Algorithm::nvls && !one_node) {
    return fmt::format("nvls is for one node, and the group spans {}; nvls_tree joins nodes",
                       question.group.nodes());
  }
  if (algorithm == Algorithm::nvls_tree && one_node) {
    return "nvls_tree joins nodes, and the group lies in one; there it is nvls";
  }
  if (algorithm == Algorithm::tree && question.collective != Collective::all_reduce) {
    return "NCCL has trees for all_reduce only";
  }
  if (question.algorithm && !question.protocol) {
    return fmt::format("NCCL does no {} by {}", name(question.collective), name(algorithm));
  }
  return {};
}

void report_impossible_pin(const Arguments& arguments, const CollectiveQuestion& question,
                           Session& session) {
  const auto pinned = arguments.value(question.algorithm ? "--algo" : "--proto");
  session.diagnostics().error(pinned->span,
                              fmt::format("NCCL has no such algorithm and protocol for {} on {}",
                                          name(question.collective), question.cluster.name),
                              why_not(question),
                              "leave --algo and --proto away to see what NCCL would choose");
}

ExitCode run_collective(const Arguments& arguments, Session& session) {
  const std::optional<CollectiveQuestion> question = read_question(arguments, session);
  if (!question) {
    return session.report();
  }
  std::vector<CollectiveRow> rows = predict_rows(*question);
  if (rows.empty()) {
    report_impossible_pin(arguments, *question, session);
    return session.report();
  }
  if (question->topology) {
    add_steps(*question, arguments, rows, session);
    if (session.diagnostics().has_errors()) {
      return session.report();
    }
  }
  OutputFiles files;
  deliver(render_collective(*question, rows, session), arguments, files, session);
  return session.report();
}

}  // namespace

Command collective_command() {
  return {
      "collective",
      "predicts a collective as nccl-tests would measure it",
      "payoff collective all_reduce --cluster dgx-h100 --nodes 4 --sizes 8B..8GiB:x2",
      {"OP", "all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all or send_recv",
       1, 1},
      {{"--cluster", "NAME", "profile of the cluster (required)"},
       {"--nodes", "N", "nodes; default 1"},
       {"--gpus-per-node", "N", "GPUs used on each node; default all"},
       {"--ranks", "N", "GPUs in all, instead of --nodes"},
       {"--rivals", "N", "groups that share the NICs of a node, this one included; default 1"},
       {"--sizes", "SERIES", "sizes; default 8B..8GiB:x2"},
       {"--algo", "NAME", "pins the algorithm, as NCCL_ALGO does"},
       {"--proto", "NAME", "pins the protocol: ll, ll128 or simple"},
       {"--one-process", "", "one process drives all GPUs of a node, as nccl-tests -g does",
        Takes::nothing},
       {"--level", "NAME", "fluid (default), or steps: every send on the links of the cluster"},
       {"--program", "NAME",
        "with --level steps, instead of NCCL's: halving_doubling, hierarchical, two_shot, sharp, "
        "packed_trees, bruck, pxn, parameter_server, gossip or sparse_all_gatherv"},
       {"--servers", "N",
        "of parameter_server: the last N of the ranks sum and do not train; default: all do both"},
       {"--neighbours", "GRAPH",
        "of gossip, whom a rank sends to: ring (default), exponential, complete, links (the GPUs "
        "that its own lead to) or a file"},
       {"--imbalance", "X",
        "of sparse_all_gatherv: what one rank has, over the mean; default 1: all alike"},
       {"--topology", "FILE", "with --level steps: links to run on instead (examples/topologies)"},
       {"--on-gpus", "SERIES",
        "with --topology: its GPUs that the ranks are on, 0,1,4..7; default: the first of each "
        "server"},
       {"--textbook", "", "α-β prices of an all-reduce beside ours", Takes::nothing},
       json_option,
       csv_option},
      run_collective};
}

}  // namespace payoff
