// SPDX-License-Identifier: Apache-2.0
#include "model/schedule.hpp"

#include <algorithm>

namespace payoff {
namespace {

// Forwards before the first pair of forward and backward.
int warm_up(int stage, int stages, int chunks, PipelineSchedule schedule) {
  const int after = stages - stage - 1;
  if (schedule == PipelineSchedule::zb_h2) {
    return 2 * after;
  }
  return chunks == 1 ? after : 2 * after + (chunks - 1) * stages;
}

}  // namespace

StageSchedule::StageSchedule(int stage, int stages, int micro_batches, int chunks,
                             PipelineSchedule schedule)
    : stages_(stages),
      chunks_(chunks),
      total_(micro_batches * chunks),
      warm_up_(schedule == PipelineSchedule::gpipe
                   ? total_
                   : std::min(total_, warm_up(stage, stages, chunks, schedule))) {
  if (splits_backward(schedule)) {
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

}  // namespace payoff
