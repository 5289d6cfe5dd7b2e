// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "model/step_plan.hpp"

// What model/overlap.cpp queues: the calls of the codec for every kind of bucket, prepared once,
// and the messages that they hand over. Plain numbers of seconds: this is the innermost loop.

namespace payoff {

// First-in, first-out, in one allocation for all that will ever pass.
template <typename T>
class Queue {
 public:
  explicit Queue(std::size_t most) { items_.reserve(most); }

  [[nodiscard]] bool empty() const { return head_ == items_.size(); }
  [[nodiscard]] T& front() { return items_[head_]; }
  void push(const T& item) { items_.push_back(item); }
  T pop() { return items_[head_++]; }

 private:
  std::vector<T> items_;
  std::size_t head_{};
};

// A call of the codec, in the order of a bucket's life: the encoder of each round, then the
// decoder.
struct CodecCall {
  double work{};
  double copy_share{};  // of the work: filling or emptying the bucket
  double message{};     // handed over when it ends
  bool decodes{};       // the last one, without a message
};

// The calls of every kind of bucket.
class CodecCalls {
 public:
  explicit CodecCalls(const StepPlan& plan) {
    first_.reserve(plan.kinds.size());
    for (const BucketKind& kind : plan.kinds) {
      first_.push_back(calls_.size());
      for (const BucketRound& round : kind.rounds) {
        add(round.encode, round.message.alone.si, false);
      }
      add(kind.decode, 0.0, true);
    }
  }

  [[nodiscard]] const CodecCall* first(const Bucket& bucket) const {
    return &calls_[first_[bucket.kind]];
  }

 private:
  void add(const Work& work, double message, bool decodes) {
    const double copy_share = work.alone > 0_s ? work.bucket_copy / work.alone : 0.0;
    calls_.push_back({work.alone.si, copy_share, message, decodes});
  }

  std::vector<CodecCall> calls_;
  std::vector<std::size_t> first_;
};

// A message that was handed over: when it ends, and the call that its end makes possible.
struct Flight {
  double end{};
  const CodecCall* then{};
};

}  // namespace payoff
