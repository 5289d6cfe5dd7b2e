// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "profiles/experiment_keys.hpp"
#include "study/row_parts.hpp"

namespace payoff {
namespace {

// Of data parallelism: what no plan has, and what needs no more than `overlap`.
constexpr std::array<std::string_view, 2> unsupported_schedules{"decentralized", "asynchronous"};
constexpr std::array<std::string_view, 4> data_schedules{"bsp", "wfbp", "mg-wfbp", "bytescheduler"};
constexpr std::string_view interleaved = "1f1b-interleaved";

// Where a source prints a micro-batch that contradicts its global batch and accumulation by a
// little (126 for 128), what those two imply; 0 elsewhere.
int implied_micro_batch(const TrainingLayout& row, int replica) {
  constexpr double slip = 0.02;
  const int accumulated = row.grad_accum.value_or(0);
  if (!row.micro_batch || accumulated < 1 || replica % accumulated != 0) {
    return 0;
  }
  const int implied = replica / accumulated;
  const int stated = *row.micro_batch;
  return implied != stated && std::abs(implied - stated) <= slip * stated ? implied : 0;
}

// Chunks of a stage where a run of Megatron-Core leaves its schedule open. Published ones are
// interleaved, in chunks of one to four layers (Korthikanti et al. 2022, table 3; NVIDIA's MLPerf
// submissions and recipes): two here, or one. A run whose sends between stages do not overlap is
// not interleaved.
int usual_chunks(const TrainingRow& row, const ParallelLayout& layout, const std::string& stack) {
  const int layers = row.model.layers.value_or(0);
  const bool likely =
      row.misses("schedule") && row.layout.overlap_pp.value_or(true) && stack == "nemo-2024";
  const bool open = row.layout.schedule ? row.layout.schedule == interleaved : likely;
  if (!open || layers % layout.pp != 0 || layout.micro_batches % layout.pp != 0) {
    return 1;
  }
  const int of_stage = layers / layout.pp;
  return of_stage % 2 == 0 ? of_stage / 2 : of_stage;
}

}  // namespace

void RowReader::refuse_unsupported_layout() const {
  const TrainingLayout& layout = row_.layout;
  if (layout.embedding_model_parallel.value_or(false) && row_.model.family != "dlrm") {
    reason("embeddings spread over ranks");
  }
  // Priorities let messages of one step run beside forward of the next, which no plan of a step
  // has. BytePS always sends by priority, so that a row that says so says nothing more.
  if (layout.schedule == "bytescheduler" && !sums_on_servers(row_)) {
    reason("schedule bytescheduler");
  }
  if (sums_on_servers(row_) && row_.cluster.nodes.value_or(1) > 1) {
    assume("servers take as many bytes through a NIC as an all-reduce");
  }
  if (layout.batch_unit && *layout.batch_unit != "images") {
    reason("batch counted in " + *layout.batch_unit);
  }
  const auto is_one_of = [&](const auto& names) {
    return std::find(names.begin(), names.end(), *layout.schedule) != names.end();
  };
  if (layout.schedule && (is_one_of(unsupported_schedules) ||
                          !(is_one_of(data_schedules) || layout.schedule == interleaved ||
                            look_up(schedules, *layout.schedule)))) {
    reason("schedule " + *layout.schedule);
  }
}

ParallelLayout RowReader::layout() const {
  refuse_unsupported_layout();
  const TrainingLayout& row = row_.layout;
  ParallelLayout layout;
  layout.sequence_parallel = sequence_parallel() && row.tp.value_or(1) > 1;
  if (!divide_model(layout)) {
    return {};
  }
  shard(layout);
  const std::string again = stated_or(row.recompute, std::string("none"), "no recomputation");
  if (const auto known = look_up(recomputes, again)) {
    layout.recompute = *known;
  } else {
    reason("recomputation " + again);
  }
  if (!row.global_batch) {
    reason("batch not stated");
  } else if (divide_batch(*row.global_batch, layout)) {
    schedule_pipeline(layout);
    overlap_tensor_parallel(layout);
  }
  return layout;
}

// Whether there can be so many ranks.
bool RowReader::divide_model(ParallelLayout& layout) const {
  const TrainingLayout& row = row_.layout;
  layout.tp = row.tp.value_or(1);
  layout.pp = row.pp.value_or(1);
  layout.virtual_stages = row.vp.value_or(1);
  layout.cp = row.cp.value_or(1);
  layout.ep = row.ep.value_or(1);
  if (row_.model.family == "moe" && layout.ep == 1) {
    layout.etp = layout.tp;  // experts that nobody spreads are divided as all weights are
  }
  const double model = static_cast<double>(layout.tp) * layout.cp * layout.pp;
  const double gpus = row_.cluster.gpus.value_or(1);
  layout.dp = row.dp.value_or(std::max(1, static_cast<int>(gpus / std::max(1.0, model))));
  if (std::min({layout.tp, layout.cp, layout.pp, layout.dp}) < 1 ||
      model * layout.dp > most_ranks) {
    reason("no such number of ranks");
    return false;
  }
  return true;
}

// A pipeline wants many micro-batches, a single stage one. Whether all replicas have as many.
bool RowReader::divide_batch(int batch, ParallelLayout& layout) const {
  const TrainingLayout& row = row_.layout;
  const int replica = batch / layout.dp;
  layout.micro_batch =
      stated_or(row.micro_batch, layout.pp > 1 ? 1 : std::max(1, replica),
                layout.pp > 1 ? "micro-batch of 1" : "micro-batch of the whole replica");
  if (const int implied = implied_micro_batch(row, replica); implied > 0) {
    layout.micro_batch = implied;
    assume("micro-batch of " + std::to_string(implied) + ": global batch over accumulation");
  }
  if (layout.micro_batch < 1 || replica * layout.dp != batch || replica % layout.micro_batch != 0) {
    reason("global batch " + std::to_string(batch) + " is not dp x micro-batch x a count");
    return false;
  }
  layout.micro_batches = replica / layout.micro_batch;
  return true;
}

// A V has two chunks on each stage.
void RowReader::schedule_pipeline(ParallelLayout& layout) const {
  const TrainingLayout& row = row_.layout;
  if (layout.pp == 1) {
    return;
  }
  layout.schedule = look_up(schedules, row.schedule.value_or("")).value_or(layout.schedule);
  if (is_v_shaped(layout.schedule)) {
    layout.virtual_stages = row.vp.value_or(2);
  } else if (!row.vp && (!row.schedule || row.schedule == interleaved)) {
    layout.virtual_stages = usual_chunks(row_, layout, result_.stack);
    assume(layout.virtual_stages > 1
               ? "stages interleaved, in " + std::to_string(layout.virtual_stages) + " chunks"
               : std::string("stages not interleaved"));
  }
}

// Asynchronous tensor parallelism, and the choice of it, there is for sharded sequences only
// (torchtitan; Megatron-LM's --tp-comm-overlap), and so is training of experts that groups of their
// own hold (Megatron-LM's validate_args).
bool RowReader::sequence_parallel() const {
  const TrainingLayout& row = row_.layout;
  const bool experts = row_.model.family == "moe" && row.ep.value_or(1) > 1;
  const bool overlaps = row.async_tp || row.overlap_tp.value_or(false);
  if (row.sequence_parallel || row.tp.value_or(1) == 1 || !(overlaps || experts)) {
    return row.sequence_parallel.value_or(false);
  }
  assume(overlaps ? "sequence parallel: messages of tensor parallelism can overlap"
                  : "sequence parallel, as experts beside tensor parallelism are");
  return true;
}

// One piece a rank: userbuffers' default, and what torch's async TP does.
void RowReader::overlap_tensor_parallel(ParallelLayout& layout) const {
  const bool stated =
      row_.layout.overlap_tp.value_or(false) || row_.layout.async_tp.value_or(false);
  if (!stated || layout.tp == 1 || !layout.sequence_parallel) {
    return;
  }
  const std::int64_t tokens =
      std::int64_t{layout.micro_batch} * row_.model.seq.value_or(0) / std::max(1, layout.cp);
  if (tokens % (std::int64_t{layout.tp} * layout.tp) != 0) {
    assume("overlap of tensor parallelism left out: its pieces do not divide the tokens");
    return;
  }
  layout.tp_overlap = layout.tp;
  assume("tensor parallelism overlapped in " + std::to_string(layout.tp) + " pieces");
}

// `hybrid` shards inside a node unless a row says how far.
void RowReader::shard(ParallelLayout& layout) const {
  const TrainingLayout& row = row_.layout;
  const std::string stage = row.zero.value_or("0");
  const bool hybrid = stage == "hybrid";
  layout.zero = stage == "1" ? 1 : stage == "2" ? 2 : stage == "3" || hybrid ? 3 : 0;
  if (layout.zero == 0 && stage != "0") {
    reason("sharding " + stage);
  }
  if (layout.zero == 0) {
    return;
  }
  const int all = layout.data_ranks();
  const int inside = std::min(all, row_.cluster.gpus_per_node.value_or(all));
  const int ranks = hybrid ? stated_or(row.zero_group, inside, "weights sharded inside a node")
                           : row.zero_group.value_or(all);
  layout.shard = ranks < all ? ranks : 0;
}

}  // namespace payoff
