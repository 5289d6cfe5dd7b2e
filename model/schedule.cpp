// SPDX-License-Identifier: Apache-2.0
#include "model/schedule.hpp"

#include <algorithm>

namespace payoff {

StageSchedule::StageSchedule(int stage, int stages, int micro_batches, int chunks)
    : stages_(stages),
      chunks_(chunks),
      total_(micro_batches * chunks),
      warm_up_(std::min(total_, chunks == 1 ? stages - stage - 1
                                            : 2 * (stages - stage - 1) + (chunks - 1) * stages)) {}

Operation StageSchedule::operator[](int index) const {
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
