// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/key_options.hpp"
#include "cli/repeated_keys.hpp"
#include "cli/session.hpp"
#include "profiles/library.hpp"
#include "profiles/read_experiment.hpp"

// The experiment of a command: a file, or options alone, or a file with options over it. Every
// option stands for a key of the file (`--dp 32` for `layout.dp`), so that there is one reader and
// one set of checks; what is wrong points at the argument that said it.

namespace payoff {

// For the help of these commands: what no option says.
inline constexpr std::string_view experiment_details =
    "Keys that have no option, for --set and files:\n"
    "  cluster.nics_per_node=N, cluster.intra.bandwidth='300 GB/s'\n"
    "  cluster.inter.latency='10 ms'             of the way between two nodes, on top of the "
    "law's\n"
    "  cluster.gpu=NAME, cluster.fabric=NAME, cluster.network=NAME    another part of the cluster\n"
    "  limits.global_batch=N                     most samples of a step that a remedy may take\n"
    "  limits.change_gradient_precision=false    a remedy must not reduce in 16 bits\n"
    "  limits.change_buckets=false               nor choose other buckets\n"
    "  limits.change_algorithm=false             nor set NCCL_ALGO\n"
    "\n"
    "The best remedy is the fastest uncompressed job within these limits: gradients reduced in 16\n"
    "bits, buckets of another size, overlap where it was off, a ring or a tree (NCCL_ALGO) where "
    "its\n"
    "price is below that of NCCL's choice by more than the law's spread, and, up to\n"
    "limits.global_batch, more micro-batches between two reductions. It is what a compression has\n"
    "to beat.\n";

// The options that name keys, and --set; in front of a command's own.
[[nodiscard]] std::vector<OptionSpec> experiment_options(std::vector<OptionSpec> own);

// Whether a command knows nodes of several kinds (`cluster.node_kinds`).
enum class NodeKinds { one, several };

// The first positional is the file. Empty when something is wrong, which was reported.
[[nodiscard]] std::optional<ReadExperiment> read_experiment_input(const Arguments& arguments,
                                                                  const Library& library,
                                                                  Session& session,
                                                                  NodeKinds kinds = NodeKinds::one,
                                                                  const TakesPlan& takes_plan = {});
// The same where the file is another argument, or none.
[[nodiscard]] std::optional<ReadExperiment> read_experiment_input(
    const Arguments& arguments, std::optional<Argument> file, const Library& library,
    Session& session, NodeKinds kinds = NodeKinds::one, const TakesPlan& takes_plan = {});
// `what`: of a command, an option.
void refuse_node_kinds(const ReadExperiment& read, Session& session, std::string_view what = {});

// What the command line makes of the file before it is read: one document, and what --set puts over
// it. For commands that read it many times with other values of some keys: a model or a cluster may
// then be among these, `varied`, and be missing here.
struct ExperimentDocument {
  Document document;
  std::vector<Setting> settings;
};
// The settings over the document.
void apply_settings(ExperimentDocument& experiment, Session& session);
[[nodiscard]] std::optional<ExperimentDocument> experiment_document(
    const Arguments& arguments, const std::vector<WrittenKey>& varied, Session& session);

// Whether nobody said how many samples a GPU has at a time, so that it is one; and the warning of
// it, for commands whose result does not say so.
[[nodiscard]] bool has_default_batch(const ReadExperiment& read);
void warn_of_default_batch(const ReadExperiment& read, Session& session);

}  // namespace payoff
