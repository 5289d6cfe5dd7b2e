// SPDX-License-Identifier: Apache-2.0
#include "cli/key_options.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace payoff {
namespace {

constexpr std::array<KeyOption, 37> key_table = {{
    {"--model", "NAME|FILE", "model.profile", "", "a profile, or a Hugging Face config.json"},
    {"--sequence", "N", "model.sequence", "", "tokens of a sample"},
    {"--decoder-sequence", "N", "model.decoder_sequence", "",
     "tokens that a decoder predicts (T5)"},
    {"--cluster", "NAME", "cluster.profile", "", "a profile of `payoff profiles list cluster`"},
    {"--nodes", "N", "cluster.nodes", "", "how many nodes of it"},
    {"--gpus-per-node", "N", "cluster.gpus_per_node", "", "GPUs used on each"},
    {"--bandwidth", "RATE", "cluster.inter.bandwidth", "", "of one NIC: '25 Gb/s'"},
    {"--dp", "N", "layout.dp", "", "data-parallel degree; default: all GPUs that remain"},
    {"--tp", "N", "layout.tp", "", "tensor-parallel degree"},
    {"--pp", "N", "layout.pp", "", "pipeline stages"},
    {"--cp", "N", "layout.cp", "", "ranks that share the tokens of a sequence"},
    {"--context-exchange", "HOW", "layout.context_exchange", "", "ring or all_to_all, with cp"},
    {"--ep", "N", "layout.ep", "", "ranks of a stage that divide the experts"},
    {"--etp", "N", "layout.etp", "", "ranks that divide each expert"},
    {"--expert-imbalance", "X", "layout.expert_imbalance", "",
     "tokens of the busiest rank over the mean, with ep"},
    {"--order", "ORDER", "layout.order", "",
     "degrees from neighbours outwards; default: tp-cp-dp-pp"},
    {"--schedule", "NAME", "layout.schedule", "",
     "1f1b, gpipe, zb-h1, zb-h2, zb-v, dualpipe-v or dualpipe"},
    {"--virtual-stages", "N", "layout.virtual_stages", "", "chunks of each stage"},
    {"--zero", "STAGE", "layout.zero", "", "0 to 3: what is sharded over dp; 3 is FSDP"},
    {"--shard-ranks", "N", "layout.shard", "",
     "ranks that share one copy (HSDP); default: all of dp"},
    {"--keep-weights", "", "layout.reshard", "false", "zero 3: weights stay whole after forward"},
    {"--dp-collective", "HOW", "layout.dp_collective", "",
     "sums gradients: nccl, sharp or packed_trees"},
    {"--sequence-parallel", "", "layout.sequence_parallel", "true", "Megatron's, with tp"},
    {"--tp-overlap", "N", "layout.tp_overlap", "",
     "pieces of products and tp messages, each beside another"},
    {"--micro-batch", "N", "layout.micro_batch", "", "samples of one GPU at a time"},
    {"--micro-batches", "N", "layout.micro_batches", "", "of one step"},
    {"--global-batch", "N", "layout.global_batch", "", "samples of one step, instead"},
    {"--recompute", "HOW", "layout.recompute", "", "none, selective or full"},
    {"--precision", "TYPE", "training.precision", "", "fp32, tf32, fp16, bf16 or fp8"},
    {"--gradient", "TYPE", "training.gradient", "", "of the uncompressed gradients"},
    {"--optimizer", "NAME", "training.optimizer", "", "adam, sgd-momentum or sgd"},
    {"--bucket", "SIZE", "training.bucket", "", "DDP's bucket_cap_mb: '25 MiB'"},
    {"--first-bucket", "SIZE", "training.first_bucket", "", "DDP's first bucket: '1 MiB'"},
    {"--codec-speed", "X", "training.codec_speed", "",
     "every codec so many times as fast as it is: 2"},
    {"--no-overlap", "", "training.overlap", "false", "reduce gradients after backward"},
    {"--software", "NAME", "software", "", "a profile of `payoff profiles list software`"},
    {"--name", "TEXT", "experiment", "", "what to call the experiment"},
}};

}  // namespace

std::span<const KeyOption> key_options() { return key_table; }

std::string_view key_of_option(std::string_view name) {
  const auto found = std::find_if(key_table.begin(), key_table.end(), [&](const KeyOption& option) {
    return option.option.substr(2) == name;
  });
  return found == key_table.end() ? std::string_view{} : found->path;
}

std::string_view help_of_key(std::string_view path) {
  const auto found = std::find_if(key_table.begin(), key_table.end(),
                                  [&](const KeyOption& option) { return option.path == path; });
  return found == key_table.end() || found->value.empty() ? std::string_view{} : found->help;
}

}  // namespace payoff
