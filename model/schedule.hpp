// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

// The order in which a pipeline stage runs its operations. A table and nothing else: when each
// operation runs is decided by the engines. `m` micro-batches, `p` stages, of which this is `s`,
// from 0.
//
// * one_f_one_b, plain and interleaved (Narayanan et al. 2021, section 2.2, in the order of
//   Megatron-LM's schedules). Interleaving (chunks > 1) needs micro_batches to be a multiple of
//   stages; the other schedules know no chunks.
// * gpipe: all forwards, then all backwards (Huang et al. 2019, arXiv:1811.06965, section 2.3; the
//   backwards in the order of the forwards, as torch.distributed.pipelining runs them).
// * zb_h1, zb_h2: the gradients of weights apart from those of inputs, and later (Qi et al. 2023,
//   arXiv:2401.10241, sections 2.1 and 2.2). p - s and 2 (p - s) - 1 forwards come before the first
//   backward; the gradients of weights follow s and 2 s micro-batches behind, which keeps p and
//   2 p - 1 micro-batches alive on every stage.
// * zb_v, dualpipe_v: two chunks a stage, the first ones down the pipeline and the second ones back
//   up, so that stage 0 has the first and the last layers (Qi et al. 2024, arXiv:2405.15362,
//   section 4; DeepSeek-AI's DualPipe, github.com/deepseek-ai/DualPipe, "cut in half"). Gradients
//   of weights apart where they fill bubbles. 2 p and 2 p + 1 chunks alive.
// * dualpipe: the same with two copies of the weights (DeepSeek-V3, section 3.2.1 of
//   arXiv:2412.19437; dualpipe/dualpipe.py there). Of 2 p GPUs the i-th from either end have the
//   same layers, and do the same at the same time with micro-batches from their own end: both are
//   stage i here, of p. What is in the middle goes on at the other one of the same stage.

namespace payoff {

enum class PipelineSchedule : std::uint8_t {
  one_f_one_b,
  gpipe,
  zb_h1,
  zb_h2,
  zb_v,
  dualpipe_v,
  dualpipe
};

// Whether gradients of weights are operations of their own.
[[nodiscard]] constexpr bool splits_backward(PipelineSchedule schedule) {
  return schedule != PipelineSchedule::one_f_one_b && schedule != PipelineSchedule::gpipe;
}

// Whether the second chunks of the stages are in the order opposite to the first ones.
[[nodiscard]] constexpr bool is_v_shaped(PipelineSchedule schedule) {
  return schedule >= PipelineSchedule::zb_v;
}

// Whether micro-batches come in from both ends, to two copies of the weights.
[[nodiscard]] constexpr bool is_two_ended(PipelineSchedule schedule) {
  return schedule == PipelineSchedule::dualpipe;
}

// Whether a forward of one chunk and the backward of the other may run as one, so that the messages
// of each hide behind the work of the other (model/paired_pieces.hpp).
[[nodiscard]] constexpr bool has_pairs(PipelineSchedule schedule) {
  return schedule == PipelineSchedule::dualpipe_v || schedule == PipelineSchedule::dualpipe;
}

// The stage that gets what a stage hands on: the first one after the last, or itself at the other
// copy of its weights.
[[nodiscard]] constexpr int stage_after(int stage, int stages, PipelineSchedule schedule) {
  return stage + 1 < stages ? stage + 1 : is_two_ended(schedule) ? stage : 0;
}

inline constexpr int operations_of_pair = 3;

struct Operation {
  bool is_forward{};
  int chunk{};
  int micro_batch{};
  bool of_weights{};  // where backward is split: their gradients, which wait for nobody

  bool operator==(const Operation&) const = default;
};

// Operation 0 .. size() - 1 of one stage: warm-up forwards, then forward and backward in turn, then
// the remaining backwards.
class StageSchedule {
 public:
  StageSchedule(int stage, int stages, int micro_batches, int chunks,
                PipelineSchedule schedule = PipelineSchedule::one_f_one_b);

  [[nodiscard]] int size() const {
    return listed_.empty() ? 2 * total_ : static_cast<int>(listed_.size());
  }
  [[nodiscard]] Operation operator[](int index) const;
  // Whether this operation, a forward, and the next two, the gradients of inputs and those of
  // weights of another micro-batch in the other chunk, are what has_pairs() means.
  [[nodiscard]] bool begins_pair(int index) const {
    return !pairs_.empty() && pairs_[static_cast<std::size_t>(index)];
  }

 private:
  [[nodiscard]] int chunk_of(int count) const;
  [[nodiscard]] int micro_batch_of(int count) const;
  [[nodiscard]] Operation forward(int count) const;
  [[nodiscard]] Operation backward(int count) const;
  void list_split(int delay);
  void list_zb_v(int stage);
  void list_dualpipe_v(int stage);

  int stages_;
  int chunks_;
  int total_;
  int warm_up_;                    // forwards before the first backward
  std::vector<Operation> listed_;  // where backward is split
  std::vector<bool> pairs_;        // of these, where there are pairs
};

// Who needs the output of an operation, and for which one of theirs.
enum class Toward : std::uint8_t { nobody, same_stage, next_stage, previous_stage };
struct Consumer {
  Toward toward{};
  Operation operation;
};

// Interleaved chunks go on around: what the last stage sends to the next one arrives at the first.
[[nodiscard]] Consumer consumer_of(const Operation& operation, int stage, int stages, int chunks,
                                   PipelineSchedule schedule);

// Of the ranges of its backward that a stage holds: chunks, the last one first, of gradients of
// inputs and, where they are apart, then of those of weights.
[[nodiscard]] constexpr std::size_t backward_place(const Operation& operation, int chunks,
                                                   PipelineSchedule schedule) {
  const bool apart = splits_backward(schedule) && operation.of_weights;
  return static_cast<std::size_t>((apart ? chunks : 0) + chunks - 1 - operation.chunk);
}

// Whether it completes the gradients of what it runs, with the last micro-batch.
[[nodiscard]] constexpr bool completes(const Operation& operation, PipelineSchedule schedule) {
  return splits_backward(schedule) ? operation.of_weights : !operation.is_forward;
}

}  // namespace payoff
