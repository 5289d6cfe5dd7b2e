// SPDX-License-Identifier: Apache-2.0
#pragma once

// The order in which a pipeline stage runs its operations: one-forward-one-backward, plain and
// interleaved (Narayanan et al. 2021, section 2.2, in the order of Megatron-LM's schedules). A
// table and nothing else: when each operation runs is decided by the engines. Interleaving (chunks
// > 1) needs micro_batches to be a multiple of stages.

namespace payoff {

struct Operation {
  bool is_forward{};
  int chunk{};
  int micro_batch{};

  bool operator==(const Operation&) const = default;
};

// Operation 0 .. size() - 1 of one stage: warm-up forwards, then forward and backward in turn, then
// the remaining backwards.
class StageSchedule {
 public:
  StageSchedule(int stage, int stages, int micro_batches, int chunks);

  [[nodiscard]] int size() const { return 2 * total_; }
  [[nodiscard]] Operation operator[](int index) const;

 private:
  [[nodiscard]] int chunk_of(int count) const;
  [[nodiscard]] int micro_batch_of(int count) const;
  [[nodiscard]] Operation forward(int count) const;
  [[nodiscard]] Operation backward(int count) const;

  int stages_;
  int chunks_;
  int total_;
  int warm_up_;
};

}  // namespace payoff
