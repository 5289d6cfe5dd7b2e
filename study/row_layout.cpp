// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "model/optimizer.hpp"
#include "profiles/experiment_keys.hpp"
#include "study/row_parts.hpp"
#include "study/row_prior.hpp"

namespace payoff {
namespace {

// Of data parallelism: what no plan has, and what needs no more than `overlap`.
constexpr std::array<std::string_view, 2> unsupported_schedules{"decentralized", "asynchronous"};
constexpr std::array<std::string_view, 4> data_schedules{"bsp", "wfbp", "mg-wfbp", "bytescheduler"};
constexpr std::string_view interleaved = "1f1b-interleaved";

template <typename Table>
auto look_up(const Table& table, std::string_view name) {
  using Value = std::decay_t<decltype(table.front().second)>;
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const auto& entry) { return entry.first == name; });
  return found == table.end() ? std::optional<Value>() : std::optional<Value>(found->second);
}

// LAMB reads the update and the weight once more, for its two norms.
constexpr Bytes lamb_extra{16.0};

// BERT's fine-tuning in DeepLearningExamples runs a fused Adam in fp16 only (run_squad.py); else it
// is BertAdam (optimization.py), an operator at a time: norm of the gradient, 4 bytes a parameter;
// clipping, 16; both moments, 40; square root, epsilon and quotient, 28; decay, 20; rate, sign and
// sum, 28; and gradients set to zero, 4.
constexpr Bytes bert_adam{140.0};

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

bool is_megatron(const std::string& stack) {
  return stack.starts_with("megatron") || stack.starts_with("nemo") || stack == "bigscience-2022";
}

}  // namespace

void RowReader::refuse_unsupported_layout() const {
  const TrainingLayout& layout = row_.layout;
  if (layout.embedding_model_parallel.value_or(false)) {
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
  layout.tp = row.tp.value_or(1);
  layout.pp = row.pp.value_or(1);
  layout.virtual_stages = row.vp.value_or(1);
  layout.sequence_parallel = sequence_parallel() && layout.tp > 1;
  layout.cp = row.cp.value_or(1);
  layout.ep = row.ep.value_or(1);
  if (row_.model.family == "moe" && layout.ep == 1) {
    layout.etp = layout.tp;  // experts that nobody spreads are divided as all weights are
  }
  const int model = layout.tp * layout.cp * layout.pp;
  layout.dp = row.dp.value_or(std::max(1, row_.cluster.gpus.value_or(model) / model));
  shard(layout);
  const std::string again = stated_or(row.recompute, std::string("none"), "no recomputation");
  if (const auto known = look_up(recomputes, again)) {
    layout.recompute = *known;
  } else {
    reason("recomputation " + again);
  }
  if (!row.global_batch) {
    reason("batch not stated");
    return layout;
  }
  // A pipeline wants many micro-batches, a single stage one.
  const int replica = *row.global_batch / std::max(1, layout.dp);
  layout.micro_batch =
      stated_or(row.micro_batch, layout.pp > 1 ? 1 : std::max(1, replica),
                layout.pp > 1 ? "micro-batch of 1" : "micro-batch of the whole replica");
  if (const int implied = implied_micro_batch(row, replica); implied > 0) {
    layout.micro_batch = implied;
    assume("micro-batch of " + std::to_string(implied) + ": global batch over accumulation");
  }
  if (replica * layout.dp != *row.global_batch || replica % layout.micro_batch != 0) {
    reason("global batch " + std::to_string(*row.global_batch) +
           " is not dp x micro-batch x a count");
    return layout;
  }
  layout.micro_batches = replica / layout.micro_batch;
  schedule_pipeline(layout);
  overlap_tensor_parallel(layout);
  return layout;
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

std::optional<Precision> RowReader::precision() const {
  const std::string text = doubts_precision(row_) ? std::string() : row_.precision.value_or("");
  if (text == "fp32") {
    return Precision::fp32;
  }
  if (text == "tf32") {
    return Precision::tf32;
  }
  if (text == "bf16") {
    return Precision::bf16;
  }
  if (text == "fp8") {
    return Precision::fp8;
  }
  if (text == "fp16" || text == "amp-fp16" || text == "fp16-or-bf16") {
    return Precision::fp16;
  }
  if (text.empty() && row_.source.starts_with("mlperf")) {
    assume("fp16: as MLPerf submissions of this model");
    return Precision::fp16;
  }
  reason(text.empty() ? "precision not stated" : "precision " + text);
  return std::nullopt;
}

// Megatron sums bf16 runs in fp32 (accumulate_allreduce_grads_in_fp32) and fp16 runs in fp16; apex
// and the other frameworks reduce what they computed; torch.cuda.amp keeps fp32 gradients.
Precision RowReader::gradient(const std::string& stack, const ParallelLayout& layout,
                              Precision precision) const {
  const std::string stated = row_.layout.grad_reduce.value_or("");
  if (stated == "bf16") {
    return Precision::bf16;
  }
  if (stated == "fp16") {
    return Precision::fp16;
  }
  const bool full = precision == Precision::fp32 || precision == Precision::tf32;
  if (full || stated == "fp32" || row_.layout.mp_mode == "DEFAULT") {
    return Precision::fp32;
  }
  const bool wide =
      (precision == Precision::bf16 && is_megatron(stack)) || stack == "pytorch-ddp-2021";
  if (layout.data_ranks() > 1 && row_.layout.mp_mode != "PURE") {
    assume(wide ? "gradients reduced in fp32" : "gradients reduced in 16 bits");
  }
  if (wide) {
    return Precision::fp32;
  }
  return precision == Precision::fp16 ? Precision::fp16 : Precision::bf16;
}

Training RowReader::training(const std::string& stack, const ParallelLayout& layout) const {
  Training training;
  training.precision = precision().value_or(Precision::fp32);
  training.gradient = gradient(stack, layout, training.precision);
  const bool convnet = row_.model.family == "cnn";
  const OptimizerCost update = optimizer_cost(convnet ? Optimizer::sgd_momentum : Optimizer::adam,
                                              training.precision, training.gradient);
  training.optimizer_bytes_per_parameter = update.state_per_parameter;
  training.optimizer_traffic_per_parameter = update.traffic_per_parameter;
  if (row_.task && row_.task->find("LAMB") != std::string::npos) {
    training.optimizer_traffic_per_parameter += lamb_extra;
  }
  const bool fine_tuned = row_.task && row_.task->find("SQuAD") != std::string::npos;
  if (stack.starts_with("ngc-pytorch-20") && fine_tuned &&
      element_size(training.precision) == 4_B) {
    training.optimizer_traffic_per_parameter = bert_adam;
  }
  training.bucket = row_.layout.bucket.value_or(training.bucket);
  // Megatron before its distributed optimizer overlapped nothing with backward, nor does BERT of
  // DeepLearningExamples (allreduce_post_accumulation in scripts/run_pretraining.sh, and one bucket
  // as large as the memory in run_pretraining.py). TensorFlow's copies to the host wait for all
  // that its compute stream has been given by then, which is the whole of backward, since the host
  // runs ahead (GPUUtil::CopyGPUTensorToCPU in core/common_runtime/gpu/gpu_util.cc).
  const bool late =
      stack == "megatron-2020" || stack == "megatron-2022" || stack == "bigscience-2022" ||
      (stack.starts_with("ngc-pytorch-20") && row_.model.family == "bert") || over_mpi(row_);
  training.overlap = row_.layout.schedule == "bsp" ? false : row_.layout.overlap_dp.value_or(!late);
  if (!row_.layout.overlap_dp && layout.data_ranks() > 1) {
    assume(late ? "gradients reduced after backward" : "gradients reduced while backward runs");
  }
  return training;
}

}  // namespace payoff
