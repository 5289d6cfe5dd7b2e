// SPDX-License-Identifier: Apache-2.0
#include "model/sharded_step.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include "model/codec_calls.hpp"
#include "model/gradient_streams.hpp"
#include "model/schedule.hpp"
#include "model/stage_sends.hpp"

namespace payoff {
namespace {

// One operation of a stage, cut where weights are needed.
struct Pass {
  std::span<const WeightGather> gathers;
  std::vector<StageOperation> parts;  // before the first gather is needed, then one each
};

PieceRange pieces_of(const StageCompute& compute, const Operation& op,
                     const ParallelLayout& layout) {
  return op.is_forward
             ? pieces_of_chunk(compute.forward, compute.forward_chunks,
                               static_cast<std::size_t>(op.chunk))
             : pieces_of_chunk(compute.backward, compute.backward_chunks,
                               backward_place(op, layout.virtual_stages, layout.schedule));
}

class ShardedStream {
 public:
  ShardedStream(const StepPlan& plan, const CodecCalls& calls, std::size_t stage)
      : plan_(&plan),
        stage_(&plan.stages[stage]),
        buckets_(&plan.buckets(stage)),
        streams_(plan, calls, stage, 0),
        order_(static_cast<int>(stage), plan.layout.stages(), plan.layout.passes(),
               plan.layout.virtual_stages, plan.layout.schedule) {}

  [[nodiscard]] bool is_over() const { return next_ == order_.size(); }
  [[nodiscard]] Operation next() const { return order_[next_]; }
  [[nodiscard]] double now() const { return streams_.now(); }

  // The next one, whose input comes at a date. Its output then travels for some time: when it
  // comes.
  double run_next(double arrival, Toward toward, double send) {
    const Operation op = order_[next_++];
    const PieceRange range = pieces_of(*stage_->compute, op, plan_->layout);
    const bool every = plan_->reduces_every_micro_batch;
    const bool completes_gradients = completes(op, plan_->layout.schedule) &&
                                     (every || op.micro_batch + 1 == plan_->layout.passes());
    streams_.wait_until(std::max(arrival, streams_.now()));
    if (every && completes_gradients) {
      streams_.begin_buckets(buckets_in(*buckets_, range).begin);
    }
    run(cut(op, range, completes_gradients),
        op.is_forward ? stage_->compute->forward : stage_->compute->backward);
    if (every && completes_gradients) {
      streams_.release_until(range.end);
    } else if (is_over()) {
      streams_.release_all();
    }
    const double arrived = sends_.send(toward, streams_.now(), send);
    streams_.send_until(sends_.until());
    return arrived;
  }

  ShardedStage finish() {
    streams_.finish();
    ShardedStage stage{streams_.take_result(), {sends_.until()}};
    stage.result.finish = {streams_.now()};
    return stage;
  }

 private:
  [[nodiscard]] Pass cut(const Operation& op, const PieceRange& range,
                         bool completes_gradients) const {
    const std::vector<Piece>& pieces =
        op.is_forward ? stage_->compute->forward : stage_->compute->backward;
    const std::vector<WeightGather>& all =
        op.is_forward ? stage_->forward_gathers : stage_->backward_gathers;
    const bool kept = plan_->gathers_once && op.micro_batch > 0;
    const PieceRange own = gathers_in(all, range);
    Pass pass{std::span(all).subspan(own.begin, kept ? 0 : own.end - own.begin), {}};
    std::size_t begin = range.begin;
    const auto cut_before = [&](std::size_t end) {
      StageOperation part = operation_of(pieces, begin, end);
      part.completes_gradients = completes_gradients;
      pass.parts.push_back(part);
      begin = end;
    };
    for (const WeightGather& gather : pass.gathers) {
      cut_before(gather.needed_by);
    }
    cut_before(range.end);
    return pass;
  }

  void run(const Pass& pass, const std::vector<Piece>& pieces) {
    std::size_t fetched = 0;
    // Codec work that can run goes before a gather is handed over, as before a piece.
    const auto fetch = [&](std::size_t up_to) {
      streams_.wait_until(streams_.now());
      for (; fetched < up_to && fetched < pass.gathers.size(); ++fetched) {
        streams_.gather(pass.gathers[fetched].kind);
      }
    };
    const std::size_t ahead = plan_->overlap ? 1 : 0;
    fetch(ahead);
    for (std::size_t part = 0; part < pass.parts.size(); ++part) {
      fetch(part);
      if (part > 0) {
        streams_.wait_for_gathers(++needed_);
      }
      fetch(part + ahead);
      streams_.run(pass.parts[part], pieces);
    }
  }

  const StepPlan* plan_;
  const StagePlan* stage_;
  const std::vector<Bucket>* buckets_;
  GradientStreams streams_;
  StageSchedule order_;
  int next_{};
  std::size_t needed_{};  // gathers so far, of all operations
  StageSends sends_;
};

// All stages, each as far as its inputs have come.
class ShardedPipeline {
 public:
  explicit ShardedPipeline(const StepPlan& plan)
      : plan_(plan),
        count_(static_cast<int>(plan.stages.size())),
        calls_(plan),
        arrivals_(plan.stages.size() * inputs_of_stage(), not_yet) {
    stages_.reserve(plan.stages.size());
    for (std::size_t s = 0; s < plan.stages.size(); ++s) {
      stages_.emplace_back(plan, calls_, s);
    }
    for (int m = 0; m < plan.layout.passes(); ++m) {
      arrival(0, {true, 0, m}) = 0.0;
    }
  }

  std::vector<ShardedStage> run() {
    for (bool advanced = true; advanced;) {
      advanced = false;
      for (int s = count_; s-- > 0;) {
        while (run_next(s)) {
          advanced = true;
        }
      }
    }
    std::vector<ShardedStage> finished;
    finished.reserve(stages_.size());
    for (ShardedStream& stage : stages_) {
      finished.push_back(stage.finish());
    }
    return finished;
  }

 private:
  static constexpr double not_yet = -1.0;

  [[nodiscard]] std::size_t inputs_of_stage() const {
    constexpr std::size_t directions = 2;
    return directions * static_cast<std::size_t>(plan_.layout.virtual_stages) *
           static_cast<std::size_t>(plan_.layout.passes());
  }
  double& arrival(int stage, const Operation& op) {
    const auto micro_batches = static_cast<std::size_t>(plan_.layout.passes());
    const auto chunk = static_cast<std::size_t>(op.chunk) * 2 + (op.is_forward ? 1 : 0);
    return arrivals_[static_cast<std::size_t>(stage) * inputs_of_stage() + chunk * micro_batches +
                     static_cast<std::size_t>(op.micro_batch)];
  }

  // Whether the next operation of a stage had its input.
  bool run_next(int s) {
    ShardedStream& stage = stages_[static_cast<std::size_t>(s)];
    if (stage.is_over()) {
      return false;
    }
    const Operation op = stage.next();
    // The gradients of inputs went before those of weights.
    const double input = op.of_weights ? 0.0 : arrival(s, op);
    if (input == not_yet) {
      return false;
    }
    const Consumer consumer =
        consumer_of(op, s, count_, plan_.layout.virtual_stages, plan_.layout.schedule);
    const StagePlan& plan = plan_.stages[static_cast<std::size_t>(s)];
    const bool to_next = consumer.toward == Toward::next_stage;
    const bool to_other = to_next || consumer.toward == Toward::previous_stage;
    const double send =
        !to_other ? 0.0 : (to_next ? plan.send_forward : plan.send_backward).alone.si;
    const double arrived = stage.run_next(input, consumer.toward, send);
    if (consumer.toward != Toward::nobody) {
      const int to = !to_other ? s
                     : to_next ? stage_after(s, count_, plan_.layout.schedule)
                               : (s + count_ - 1) % count_;
      arrival(to, consumer.operation) = arrived;
    }
    return true;
  }

  const StepPlan& plan_;
  int count_;
  CodecCalls calls_;
  std::vector<double> arrivals_;  // of inputs, by stage, chunk, direction and micro-batch
  std::vector<ShardedStream> stages_;
};

}  // namespace

std::vector<ShardedStage> sharded_step(const StepPlan& plan) { return ShardedPipeline(plan).run(); }

}  // namespace payoff
