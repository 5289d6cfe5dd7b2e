// SPDX-License-Identifier: Apache-2.0
#include "model/sharded_step.hpp"

#include <span>
#include <vector>

#include "model/codec_calls.hpp"
#include "model/gradient_streams.hpp"

namespace payoff {
namespace {

// One pass of a micro-batch, cut where weights are needed.
struct Pass {
  std::span<const WeightGather> gathers;
  std::vector<StageOperation> parts;  // before the first gather is needed, then one each
};

Pass cut(const StepPlan& plan, bool is_forward) {
  const StagePlan& stage = plan.stages.front();
  const std::vector<Piece>& pieces = is_forward ? stage.compute->forward : stage.compute->backward;
  Pass pass{is_forward ? stage.forward_gathers : stage.backward_gathers, {}};
  std::size_t begin = 0;
  const auto cut_before = [&](std::size_t end) {
    StageOperation part = operation_of(pieces, begin, end);
    part.completes_gradients = !is_forward;
    pass.parts.push_back(part);
    begin = end;
  };
  for (const WeightGather& gather : pass.gathers) {
    cut_before(gather.needed_by);
  }
  cut_before(pieces.size());
  return pass;
}

class ShardedStep {
 public:
  explicit ShardedStep(const StepPlan& plan)
      : plan_(plan),
        compute_(*plan.stages.front().compute),
        calls_(plan),
        streams_(plan, calls_, 0, 0),
        forward_(cut(plan, true)),
        backward_(cut(plan, false)) {}

  OverlapResult run() {
    for (int i = 0; i < plan_.layout.micro_batches; ++i) {
      run(forward_, compute_.forward);
      streams_.begin_buckets();
      run(backward_, compute_.backward);
      streams_.release_all();
    }
    streams_.finish();
    OverlapResult result = streams_.take_result();
    result.finish = {streams_.now()};
    return result;
  }

 private:
  void run(const Pass& pass, const std::vector<Piece>& pieces) {
    std::size_t fetched = 0;
    // Codec work that can run goes before a gather is handed over, as before a piece.
    const auto fetch = [&](std::size_t up_to) {
      streams_.wait_until(streams_.now());
      for (; fetched < up_to && fetched < pass.gathers.size(); ++fetched) {
        streams_.gather(pass.gathers[fetched].kind);
      }
    };
    const std::size_t ahead = plan_.overlap ? 1 : 0;
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

  const StepPlan& plan_;
  const StageCompute& compute_;
  CodecCalls calls_;
  GradientStreams streams_;
  Pass forward_;
  Pass backward_;
  std::size_t needed_{};  // gathers so far, of all micro-batches
};

}  // namespace

OverlapResult sharded_step(const StepPlan& plan) { return ShardedStep(plan).run(); }

}  // namespace payoff
