// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "model/evaluate.hpp"
#include "model/overlap.hpp"
#include "model/pipeline.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::WithinAbs;

// The recurrence of model/overlap.cpp against a second implementation: three streams whose tasks
// lose work event by event, no matter what comes next.

namespace {

struct Task {
  double left{};
  bool computes{true};
  std::size_t piece{};   // of backward, or
  std::size_t bucket{};  // of a bucket
  std::size_t round{};
};

class Events {
 public:
  Events(const StepPlan& plan, const std::vector<StageOperation>& operations)
      : plan_(plan),
        backward_(plan.stages[0].compute->backward),
        buckets_(plan.stages[0].buckets),
        operations_(operations) {}

  double finish() {
    while (true) {
      start();
      const double step = next_event();
      if (step == never) {
        return now_;
      }
      pass(step);
    }
  }

 private:
  static constexpr double never = std::numeric_limits<double>::infinity();

  void start() {
    if (main_.empty() && !on_side() && !codecs_.empty()) {
      main_ = {codecs_.front()};
      main_is_codec_ = true;
      codecs_.pop_front();
    }
    if (main_.empty() && operation_ < operations_.size() &&
        now_ >= operations_[operation_].arrival.si) {
      const std::size_t piece = operations_[operation_].first_piece + in_operation_;
      main_ = {{backward_[piece].work.alone.si, true, piece, 0, 0},
               {backward_[piece].message.alone.si, false, piece, 0, 0}};
      main_is_codec_ = false;
    }
    if (side_.empty() && on_side() && !codecs_.empty()) {
      side_ = {codecs_.front()};
      codecs_.pop_front();
    }
  }

  [[nodiscard]] bool on_side() const { return plan_.placement == Placement::side_stream; }

  [[nodiscard]] double rate(const std::deque<Task>& stream) const {
    if (stream.empty() || !stream.front().computes) {
      return 1.0;
    }
    const bool both = !main_.empty() && main_.front().computes && !side_.empty();
    return (network_.empty() ? 1.0 : 1.0 - plan_.reserved_share) * (both ? 0.5 : 1.0);
  }

  [[nodiscard]] double next_event() const {
    double step = never;
    for (const auto* stream : {&main_, &side_}) {
      if (!stream->empty()) {
        step = std::min(step, stream->front().left / rate(*stream));
      }
    }
    if (!network_.empty()) {
      step = std::min(step, network_.front().left);
    }
    if (main_.empty() && operation_ < operations_.size()) {
      step = std::min(step, std::max(0.0, operations_[operation_].arrival.si - now_));
    }
    return step;
  }

  void pass(double step) {
    const double rates[] = {rate(main_), rate(side_), 1.0};
    std::deque<Task>* const streams[] = {&main_, &side_, &network_};
    bool ends[] = {false, false, false};
    now_ += step;
    if (main_.empty() && operation_ < operations_.size() &&
        operations_[operation_].arrival.si - now_ < 1e-12) {
      now_ = std::max(now_, operations_[operation_].arrival.si);
    }
    for (std::size_t i = 0; i < 3; ++i) {
      if (!streams[i]->empty()) {
        double& left = streams[i]->front().left;
        left -= step * rates[i];
        ends[i] = left <= 1e-13;
      }
    }
    for (std::size_t i : {2U, 1U, 0U}) {
      if (ends[i]) {
        const Task task = streams[i]->front();
        streams[i]->pop_front();
        complete(i, task);
      }
    }
  }

  void complete(std::size_t stream, const Task& task) {
    if (stream == 2) {
      push_codec(task.bucket, task.round + 1);
    } else if (stream == 1 || main_is_codec_) {
      const BucketKind& kind = plan_.kind(buckets_[task.bucket]);
      if (task.round < kind.rounds.size()) {
        network_.push_back(
            {kind.rounds[task.round].message.alone.si, false, 0, task.bucket, task.round});
      }
    } else if (!task.computes) {
      end_piece(task.piece);
    }
  }

  void end_piece(std::size_t piece) {
    const StageOperation& operation = operations_[operation_];
    const bool waits = !plan_.overlap || plan_.placement == Placement::after_backward;
    if (++in_operation_ == operation.end_piece - operation.first_piece) {
      ++operation_;
      in_operation_ = 0;
    }
    const bool last = operation_ == operations_.size();
    while (next_bucket_ < buckets_.size() &&
           (last || (!waits && operation.completes_gradients &&
                     static_cast<std::size_t>(buckets_[next_bucket_].ready_after) <= piece))) {
      push_codec(next_bucket_++, 0);
    }
  }

  void push_codec(std::size_t bucket, std::size_t round) {
    const BucketKind& kind = plan_.kind(buckets_[bucket]);
    const Work& work = round < kind.rounds.size() ? kind.rounds[round].encode : kind.decode;
    codecs_.push_back({work.alone.si, true, 0, bucket, round});
  }

  const StepPlan& plan_;
  const std::vector<Piece>& backward_;
  const std::vector<Bucket>& buckets_;
  const std::vector<StageOperation>& operations_;
  std::deque<Task> main_;
  std::deque<Task> side_;
  std::deque<Task> network_;
  std::deque<Task> codecs_;
  bool main_is_codec_{};
  std::size_t operation_{};
  std::size_t in_operation_{};
  std::size_t next_bucket_{};
  double now_{};
};

// Random plans of one stage: `chunks` chunks of pieces, each with buckets of its own.
class RandomPlan {
 public:
  RandomPlan(unsigned seed, int chunks) : random_(seed) {
    auto compute = std::make_shared<StageCompute>();
    StagePlan& stage = plan.stages.emplace_back();
    for (int chunk = 0; chunk < chunks; ++chunk) {
      compute->backward_chunks.push_back(compute->backward.size());
      for (int i = 0, count = 1 + below(6); i < count; ++i) {
        const int piece = static_cast<int>(compute->backward.size());
        compute->backward.push_back({{WorkKind::backward, upto(5.0)}, {}});
        compute->backward.back().message.alone = below(2) * upto(0.5);
        if (below(2) > 0 || i + 1 == count) {
          stage.buckets.push_back({piece, static_cast<std::size_t>(below(3))});
        }
      }
    }
    stage.compute = compute;
    const double codec = below(3);
    const double message = 0.2 + 4.0 * below(3);
    for (int k = 0; k < 3; ++k) {
      BucketKind& kind = plan.kinds.emplace_back();
      for (int r = 0, rounds = 1 + below(3); r < rounds; ++r) {
        kind.rounds.push_back({{WorkKind::encode, codec * upto(1.0)}, {}});
        kind.rounds.back().message.alone = upto(message);
      }
      kind.decode = {WorkKind::decode, codec * upto(1.0)};
    }
    plan.reserved_share = 0.1 * below(4);
    plan.overlap = below(5) > 0;
  }

  // Every chunk in turn, `between` operations of the next one before its last micro-batch.
  std::vector<StageOperation> operations(int between) {
    const StageCompute& compute = *plan.stages[0].compute;
    const std::size_t chunks = compute.backward_chunks.size();
    std::vector<StageOperation> result;
    double arrival = 0.0;
    for (std::size_t c = 0; c < chunks; ++c) {
      const std::size_t end =
          c + 1 < chunks ? compute.backward_chunks[c + 1] : compute.backward.size();
      for (int i = c == 0 ? between : 0; i <= between; ++i) {
        StageOperation& operation =
            result.emplace_back(operation_of(compute.backward, compute.backward_chunks[c], end));
        operation.completes_gradients = i == between;
        operation.arrival = {arrival};
        arrival += below(2) * upto(20.0).si;
      }
    }
    return result;
  }

  StepPlan plan;

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  Seconds upto(double most) { return most * static_cast<double>(random_()) / 4294967296.0 * 1_ms; }

  std::mt19937 random_;
};

Seconds time_on_streams(const OverlapResult& r) {
  return r.work + r.exposed_tp + r.wait + r.interference + r.encode + r.decode + r.bucket_copy +
         r.exposed_dp;
}

}  // namespace

TEST_CASE(
    "overlap by recurrence is overlap event by event, for chunks, waits and every placement") {
  for (unsigned seed = 1; seed <= 1500; ++seed) {
    RandomPlan random(seed, 1 + static_cast<int>(seed % 4));
    const auto operations = random.operations(static_cast<int>(seed / 4 % 4));
    for (const Placement placement :
         {Placement::compute_stream, Placement::side_stream, Placement::after_backward}) {
      random.plan.placement = placement;
      const OverlapResult result = overlap_gradients(random.plan, 0, operations);
      const double expected = Events(random.plan, operations).finish();
      INFO("seed " << seed << ", placement " << static_cast<int>(placement));
      REQUIRE_THAT(result.finish / 1_ms, WithinAbs(expected * 1e3, 1e-7));
      REQUIRE_THAT(time_on_streams(result) / 1_ms, WithinAbs(expected * 1e3, 1e-7));
    }
  }
}

TEST_CASE("no plan adds more to its operations than all of its codec calls and messages") {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    RandomPlan random(seed, 1 + static_cast<int>(seed % 3));
    const auto operations = random.operations(2);
    Seconds alone;
    for (const StageOperation& operation : operations) {
      alone = std::max(alone, operation.arrival) + operation.work + operation.messages;
    }
    for (const Placement placement :
         {Placement::compute_stream, Placement::side_stream, Placement::after_backward}) {
      random.plan.placement = placement;
      const OverlapResult result = overlap_gradients(random.plan, 0, operations);
      INFO("seed " << seed << ", placement " << static_cast<int>(placement));
      CHECK(result.finish <= alone + most_added(random.plan)[0]);
      CHECK(result.finish >= alone);
    }
  }
}
