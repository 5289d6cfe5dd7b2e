// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/step_plan.hpp"

// What model/gradient_streams queues: the calls of the codec for every kind of bucket, prepared
// once a plan, and the messages that they hand over. Plain numbers of seconds: this is the
// innermost loop.

namespace payoff {

// First-in, first-out. Room is used again when all has passed.
template <typename T>
class Queue {
 public:
  [[nodiscard]] bool empty() const { return head_ == end_; }
  [[nodiscard]] std::size_t size() const { return end_ - head_; }
  [[nodiscard]] const T& front() const { return room_[head_]; }
  [[nodiscard]] T& operator[](std::size_t place) { return room_[head_ + place]; }
  void push(const T& item) {
    if (empty()) {
      head_ = end_ = 0;
    }
    if (end_ == room_.size()) {
      grow();
    }
    room_[end_++] = item;
  }
  T pop() { return room_[head_++]; }
  void take(const Queue& other) {
    room_.assign(other.room_.begin() + static_cast<std::ptrdiff_t>(other.head_),
                 other.room_.begin() + static_cast<std::ptrdiff_t>(other.end_));
    head_ = 0;
    end_ = room_.size();
  }

 private:
  void grow() {
    constexpr std::size_t usual = 32;
    room_.resize(std::max(usual, 2 * room_.size()));
  }

  std::vector<T> room_;
  std::size_t head_{};
  std::size_t end_{};
};

// Where a part of a codec runs that runs on the host.
enum class HostServer : std::uint8_t { copy_out, cores, network, copy_in };

struct HostLeg {
  HostServer server{};
  double time{};
  bool decodes{};
  double memory_share{};  // of the GPU's, for a copy
};

// A call of the codec, in the order of a bucket's life: the encoder of each round, then the
// decoder. Rounds on the host are legs between the GPU's part of one call and that of the next.
struct CodecCall {
  double work{};
  double copy_share{};            // of the work: filling or emptying the bucket
  double message{};               // handed over when it ends
  bool decodes{};                 // the last one, without a message
  double memory_share{};          // of the work
  double message_memory_share{};  // of the message
  bool of_weights{};
  double update_share{};        // of the work: the optimizer's
  std::vector<HostLeg> legs{};  // after the work, before the message
  bool sends = true;            // a message of the GPU, if only an empty one

  // Nothing of it is the GPU's to run.
  [[nodiscard]] bool is_of_host() const { return work <= 0.0 && !legs.empty(); }
};

// The calls of every kind of bucket.
class CodecCalls {
 public:
  explicit CodecCalls(const StepPlan& plan) {
    first_.reserve(plan.kinds.size());
    calls_.reserve(3 * plan.kinds.size());
    for (const BucketKind& kind : plan.kinds) {
      first_.push_back(calls_.size());
      const bool of_weights = is_of_weights(kind);
      if (uses_host(kind)) {
        add_on_host(kind);
        continue;
      }
      for (const BucketRound& round : kind.rounds) {
        add(round.encode, round.message, false, of_weights);
      }
      add(kind.decode, {}, true, of_weights);
    }
  }

  [[nodiscard]] bool use_host() const { return use_host_; }

  [[nodiscard]] const CodecCall* first(const Bucket& bucket) const { return first(bucket.kind); }
  [[nodiscard]] const CodecCall* first(std::size_t kind) const { return &calls_[first_[kind]]; }

  // The largest of a message.
  [[nodiscard]] double memory_share() const { return memory_share_; }

 private:
  static void add_leg(HostServer server, Seconds time, bool decodes, double memory_share,
                      std::vector<HostLeg>& legs) {
    legs.push_back({server, time.si, decodes, memory_share});
  }

  static void add_legs(const HostWork& work, bool decodes, std::vector<HostLeg>& legs) {
    if (work.from_gpu) {
      add_leg(HostServer::copy_out, work.copy, decodes, work.copy_memory_share, legs);
    }
    add_leg(HostServer::cores, work.work, decodes, 0.0, legs);
    if (work.to_gpu) {
      add_leg(HostServer::copy_in, work.copy, true, work.copy_memory_share, legs);
    }
  }

  // What follows on the host goes into the call before it, until the data is on the GPU again.
  void add_on_host(const BucketKind& kind) {
    use_host_ = true;
    const std::size_t first = calls_.size();
    bool there = false;
    for (const BucketRound& round : kind.rounds) {
      if (!there) {
        add(round.encode, {}, false, false);
      }
      CodecCall& call = calls_.back();
      if (round.host.any) {
        add_legs(round.host, !call.legs.empty() && round.host.to_gpu, call.legs);
      }
      there = round.message.from_host;
      call.sends = !there;
      if (there) {
        add_leg(HostServer::network, round.message.alone, false, 0.0, call.legs);
      } else {
        call.message = round.message.alone.si;
        call.message_memory_share = round.message.memory_share;
        memory_share_ = std::max(memory_share_, round.message.memory_share);
      }
    }
    if (kind.host_decode.any && calls_.size() > first) {
      add_legs(kind.host_decode, true, calls_.back().legs);
    }
    add(kind.decode, {}, true, false);
  }

  void add(const Work& work, const Message& message, bool decodes, bool of_weights) {
    const double copy_share = work.alone > 0_s ? work.bucket_copy / work.alone : 0.0;
    const double update_share = work.alone > 0_s ? work.update / work.alone : 0.0;
    calls_.push_back({work.alone.si, copy_share, message.alone.si, decodes, work.memory_share,
                      message.memory_share, of_weights, update_share});
    memory_share_ = std::max(memory_share_, message.memory_share);
  }

  double memory_share_{};
  bool use_host_{};
  std::vector<CodecCall> calls_;
  std::vector<std::size_t> first_;
};

// A message that was handed over: when it ends, less what all messages are late by then, and the
// call that its end makes possible.
struct Flight {
  double end{};
  const CodecCall* then{};

  [[nodiscard]] const CodecCall* sent() const { return then - 1; }  // it
};

}  // namespace payoff
