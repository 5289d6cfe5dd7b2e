// SPDX-License-Identifier: Apache-2.0
#include "model/schedule.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace payoff {
namespace {

// Forwards before the first pair of forward and backward.
int forwards_before(int stage, int stages, int chunks, PipelineSchedule schedule) {
  const int after = stages - stage - 1;
  if (schedule == PipelineSchedule::zb_h2) {
    return 2 * after;
  }
  return chunks == 1 ? after : 2 * after + (chunks - 1) * stages;
}

// Operations of two chunks, each through the micro-batches in turn. A schedule that wants more
// micro-batches than there are goes on as if there were, and those are left out.
class TwoChunks {
 public:
  explicit TwoChunks(int micro_batches) : micro_batches_(micro_batches) {}

  void forward(int chunk) { add({true, chunk, forwards_[index(chunk)]++}); }
  // Of inputs; those of weights are owed.
  void inputs(int chunk) {
    add({false, chunk, backwards_[index(chunk)]});
    owed_.push_back({false, chunk, backwards_[index(chunk)]++, true});
  }
  // Owed for longest, of any chunk or of this one.
  void weights() {
    add(owed_.front());
    owed_.erase(owed_.begin());
  }
  void weights(int chunk) {
    const auto first = std::find_if(owed_.begin(), owed_.end(),
                                    [&](const Operation& op) { return op.chunk == chunk; });
    add(*first);
    owed_.erase(first);
  }
  void backward(int chunk) {
    inputs(chunk);
    add(owed_.back());
    owed_.pop_back();
  }
  // A forward and the whole backward of the other chunk.
  void pair(int chunk) {
    const std::size_t first = listed_.size();
    forward(chunk);
    backward(1 - chunk);
    pairs_.resize(listed_.size(), false);
    if (listed_.size() == first + operations_of_pair) {
      pairs_[first] = true;
    }
  }
  [[nodiscard]] int forwards(int chunk) const { return forwards_[index(chunk)]; }
  [[nodiscard]] bool owes(int chunk) const {
    return std::any_of(owed_.begin(), owed_.end(),
                       [&](const Operation& op) { return op.chunk == chunk; });
  }
  std::vector<Operation> take() { return std::move(listed_); }
  std::vector<bool> take_pairs() {
    pairs_.resize(listed_.size(), false);
    return std::move(pairs_);
  }

 private:
  static std::size_t index(int chunk) { return static_cast<std::size_t>(chunk); }
  void add(const Operation& operation) {
    if (operation.micro_batch < micro_batches_) {
      listed_.push_back(operation);
    }
  }

  int micro_batches_;
  std::array<int, 2> forwards_{};
  std::array<int, 2> backwards_{};
  std::vector<Operation> owed_;
  std::vector<Operation> listed_;
  std::vector<bool> pairs_;
};

}  // namespace

StageSchedule::StageSchedule(int stage, int stages, int micro_batches, int chunks,
                             PipelineSchedule schedule)
    : stages_(stages),
      chunks_(chunks),
      total_(micro_batches * chunks),
      warm_up_(schedule == PipelineSchedule::gpipe
                   ? total_
                   : std::min(total_, forwards_before(stage, stages, chunks, schedule))) {
  if (schedule == PipelineSchedule::zb_v) {
    list_zb_v(stage);
  } else if (has_pairs(schedule)) {
    list_dualpipe_v(stage);
  } else if (splits_backward(schedule)) {
    list_split(schedule == PipelineSchedule::zb_h1 ? stage : 2 * stage);
  }
}

// The gradients of weights follow those of inputs so many micro-batches later.
void StageSchedule::list_split(int delay) {
  listed_.reserve(3 * static_cast<std::size_t>(total_));
  for (int count = 0; count < warm_up_; ++count) {
    listed_.push_back(forward(count));
  }
  const auto of_weights = [](int micro_batch) { return Operation{false, 0, micro_batch, true}; };
  for (int count = 0; count < total_; ++count) {
    if (warm_up_ + count < total_) {
      listed_.push_back(forward(warm_up_ + count));
    }
    listed_.push_back(backward(count));
    if (count >= delay) {
      listed_.push_back(of_weights(count - delay));
    }
  }
  for (int count = std::max(0, total_ - delay); count < total_; ++count) {
    listed_.push_back(of_weights(count));
  }
}

// As ScheduleZBVZeroBubble of torch.distributed.pipelining lists it: where all three kinds of
// operations take equally long and there are 2 p - 1 micro-batches or more, a stage never waits
// from its first operation on.
void StageSchedule::list_zb_v(int stage) {
  const int micro_batches = std::max(2 * stages_ - 1, total_ / 2);
  TwoChunks order(total_ / 2);
  for (int i = 0; i < 2 * (stages_ - stage) - 1; ++i) {
    order.forward(0);
  }
  for (int i = 0; i < stage; ++i) {
    order.forward(1);
    order.forward(0);
  }
  for (int i = 0; i < stages_ - stage; ++i) {
    order.forward(1);
    order.backward(1);
  }
  while (order.forwards(1) < order.forwards(0) || order.forwards(0) < micro_batches) {
    if (order.forwards(0) < micro_batches) {
      order.forward(0);
    }
    order.backward(0);
    order.forward(1);
    order.backward(1);
  }
  for (int i = 0; i < stage; ++i) {
    order.inputs(0);
    order.inputs(1);
  }
  for (int i = 0; i < stages_ - stage; ++i) {
    order.inputs(0);
    order.weights(0);
  }
  for (const int chunk : {1, 0}) {
    while (order.owes(chunk)) {
      order.weights(chunk);
    }
  }
  listed_ = order.take();
}

// The eight steps of DualPipeV (deepseek-ai/DualPipe, dualpipe/dualpipev.py), and of DualPipe
// (dualpipe.py), whose ranks are half as many from either end.
void StageSchedule::list_dualpipe_v(int stage) {
  const int after = stages_ - stage - 1;
  const int micro_batches = std::max(2 * stages_, total_ / 2);
  TwoChunks order(total_ / 2);
  for (int i = 0; i < 2 * after; ++i) {
    order.forward(0);
  }
  for (int i = 0; i < stage + 1; ++i) {
    order.forward(0);
    order.forward(1);
  }
  for (int i = 0; i < after; ++i) {
    order.inputs(1);
    order.weights();
    order.forward(1);
  }
  for (int i = 0; i < micro_batches - 2 * stages_ + stage + 1; ++i) {
    if (i == 0 && after == 0) {  // apart: what is in the middle waits for the forward
      order.forward(0);
      order.backward(1);
    } else {
      order.pair(0);
    }
    order.pair(1);
  }
  for (int i = 0; i < after; ++i) {
    order.backward(1);
    order.pair(1);
  }
  // From the middle of these on the gradients of weights are put off.
  for (int i = 0; i < stage + 1; ++i) {
    for (const int chunk : {1, 0}) {
      2 * i + (chunk == 0 ? 1 : 0) > stage ? order.inputs(chunk) : order.backward(chunk);
    }
  }
  for (int i = 0; i < after; ++i) {
    order.weights();
    order.inputs(0);
  }
  for (int i = 0; i < stage + 1; ++i) {
    order.weights();
  }
  pairs_ = order.take_pairs();
  listed_ = order.take();
}

Operation StageSchedule::operator[](int index) const {
  if (!listed_.empty()) {
    return listed_[static_cast<std::size_t>(index)];
  }
  if (index < warm_up_) {
    return forward(index);
  }
  const int steady = index - warm_up_;
  const int pairs = total_ - warm_up_;
  if (steady >= 2 * pairs) {
    return backward(steady - pairs);
  }
  return steady % 2 == 0 ? forward(warm_up_ + steady / 2) : backward(steady / 2);
}

int StageSchedule::chunk_of(int count) const {
  return chunks_ == 1 ? 0 : (count / stages_) % chunks_;
}

int StageSchedule::micro_batch_of(int count) const {
  return chunks_ == 1 ? count : count / (stages_ * chunks_) * stages_ + count % stages_;
}

Operation StageSchedule::forward(int count) const {
  return {true, chunk_of(count), micro_batch_of(count)};
}

Operation StageSchedule::backward(int count) const {
  return {false, chunks_ - 1 - chunk_of(count), micro_batch_of(count)};
}

Consumer consumer_of(const Operation& operation, int stage, int stages, int chunks,
                     PipelineSchedule schedule) {
  Operation next = operation;
  if (operation.of_weights) {
    return {Toward::nobody, next};
  }
  const bool v_shaped = is_v_shaped(schedule);
  const bool first = operation.chunk == 0;
  // Down the pipeline: activations, but those of a V's second chunk, whose gradients come down.
  const bool down = operation.is_forward == (first || !v_shaped);
  if (stage != (down ? stages - 1 : 0)) {
    return {down ? Toward::next_stage : Toward::previous_stage, next};
  }
  if (operation.is_forward && operation.chunk + 1 == chunks) {
    next.is_forward = false;
    return {Toward::same_stage, next};
  }
  if (!operation.is_forward && first) {
    return {Toward::nobody, next};
  }
  next.chunk += operation.is_forward ? 1 : -1;
  if (v_shaped) {
    return {is_two_ended(schedule) ? Toward::next_stage : Toward::same_stage, next};
  }
  return {down ? Toward::next_stage : Toward::previous_stage, next};
}

}  // namespace payoff
