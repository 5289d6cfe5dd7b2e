// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "model/optimizer.hpp"
#include "study/row_parts.hpp"
#include "study/row_prior.hpp"

namespace payoff {
namespace {

constexpr std::array<std::pair<std::string_view, Precision>, 7> row_precisions{
    {{"fp32", Precision::fp32},
     {"tf32", Precision::tf32},
     {"bf16", Precision::bf16},
     {"fp8", Precision::fp8},
     {"fp16", Precision::fp16},
     {"amp-fp16", Precision::fp16},
     {"fp16-or-bf16", Precision::fp16}}};

// LAMB reads the update and the weight once more, for its two norms.
constexpr Bytes lamb_extra{16.0};

// BERT's fine-tuning in DeepLearningExamples runs a fused Adam in fp16 only (run_squad.py); else it
// is BertAdam (optimization.py), an operator at a time: norm of the gradient, 4 bytes a parameter;
// clipping, 16; both moments, 40; square root, epsilon and quotient, 28; decay, 20; rate, sign and
// sum, 28; and gradients set to zero, 4.
constexpr Bytes bert_adam{140.0};

// Recommenders are trained by plain SGD (bench/run_and_time.sh of facebookresearch/dlrm).
Optimizer optimizer_of(const TrainingModel& model) {
  return model.family == "cnn"    ? Optimizer::sgd_momentum
         : model.family == "dlrm" ? Optimizer::sgd
                                  : Optimizer::adam;
}

bool is_megatron(const std::string& stack) {
  return stack.starts_with("megatron") || stack.starts_with("nemo") || stack == "bigscience-2022";
}

}  // namespace

std::optional<Precision> RowReader::precision() const {
  const std::string text = doubts_precision(row_) ? std::string() : row_.precision.value_or("");
  if (const auto known = look_up(row_precisions, text)) {
    return known;
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
  const OptimizerCost update =
      optimizer_cost(optimizer_of(row_.model), training.precision, training.gradient);
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
