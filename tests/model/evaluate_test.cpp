// SPDX-License-Identifier: Apache-2.0
#include "model/evaluate.hpp"

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "model/schedule.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

struct Shape {
  int stages{};
  int chunks{};
  int micro_batches{};
};

// One piece a chunk, one bucket of its own each; nothing slows anything, and codecs are free.
class PipelinePlan {
 public:
  PipelinePlan(unsigned seed, const Shape& shape) : random_(seed) {
    plan.layout.pp = shape.stages;
    plan.layout.virtual_stages = shape.chunks;
    plan.layout.micro_batches = shape.micro_batches;
    plan.overlap = true;
    const double message = 0.5 + static_cast<double>(random_() % 40);
    for (int s = 0; s < shape.stages; ++s) {
      add_stage(static_cast<std::size_t>(s), static_cast<std::size_t>(shape.chunks), message);
    }
  }

  StepPlan plan;

 private:
  void add_stage(std::size_t index, std::size_t chunks, double message) {
    auto compute = std::make_shared<StageCompute>();
    StagePlan& stage = plan.stages.emplace_back();
    stage.like = index;
    for (std::size_t c = 0; c < chunks; ++c) {
      compute->forward_chunks.push_back(c);
      compute->backward_chunks.push_back(c);
      compute->forward.push_back({{WorkKind::forward, upto(2.0)}, {}});
      compute->backward.push_back({{WorkKind::backward, upto(4.0)}, {}});
      compute->forward_work += compute->forward.back().work.alone;
      compute->backward_work += compute->backward.back().work.alone;
      stage.buckets.push_back({static_cast<int>(c), plan.kinds.size()});
      BucketKind& kind = plan.kinds.emplace_back();
      kind.rounds.emplace_back().message.alone = upto(message);
    }
    stage.compute = compute;
    stage.send_forward.alone = upto(0.5);
    stage.send_backward.alone = upto(0.5);
  }

  Seconds upto(double most) { return most * static_cast<double>(random_()) / 4294967296.0 * 1_ms; }

  std::mt19937 random_;
};

// Every operation of every stage as an event: it may start once its stage's previous one and its
// input are done; what a stage sends one way goes in order, one at a time. Then each stage's
// messages one by one, each as soon as its chunk has had its last micro-batch.
class Events {
 public:
  explicit Events(const StepPlan& plan)
      : plan_(plan),
        stages_(plan.layout.pp),
        chunks_(plan.layout.virtual_stages),
        ends_(plan.stages.size() * 2 * 1000, -1.0),
        arrivals_(ends_),
        links_(plan.stages.size() * 2, 0.0) {}

  Seconds step() {
    std::vector<int> next(plan_.stages.size(), 0);
    std::vector<double> free(plan_.stages.size(), 0.0);
    for (bool any = true; any;) {
      any = false;
      for (int s = 0; s < stages_; ++s) {
        const StageSchedule order(s, stages_, plan_.layout.micro_batches, chunks_);
        const auto at = static_cast<std::size_t>(s);
        if (next[at] < order.size() && run(s, order[next[at]], free[at])) {
          ++next[at];
          any = true;
        }
      }
    }
    double latest = 0.0;
    for (int s = 0; s < stages_; ++s) {
      latest = std::max({latest, free[static_cast<std::size_t>(s)], network_end(s)});
    }
    return {latest};
  }

 private:
  [[nodiscard]] std::size_t place(int stage, const Operation& op) const {
    const int number = (op.micro_batch * chunks_ + op.chunk) * 2 + (op.is_forward ? 1 : 0);
    return static_cast<std::size_t>(stage) * 2000 + static_cast<std::size_t>(number);
  }
  double& end(int stage, const Operation& op) { return ends_.at(place(stage, op)); }

  bool run(int s, const Operation& op, double& free) {
    const double input = input_of(s, op);
    if (input < 0.0) {
      return false;
    }
    const StageCompute& compute = *plan_.stages[static_cast<std::size_t>(s)].compute;
    const auto chunk = static_cast<std::size_t>(op.chunk);
    const Piece& piece = op.is_forward ? compute.forward[chunk]
                                       : compute.backward[compute.backward.size() - 1 - chunk];
    free = end(s, op) = std::max(free, input) + piece.work.alone.si;
    const bool ends_chain =
        op.is_forward ? s == stages_ - 1 && op.chunk == chunks_ - 1 : s == 0 && op.chunk == 0;
    if (!ends_chain) {
      const StagePlan& stage = plan_.stages[static_cast<std::size_t>(s)];
      double& link = links_[static_cast<std::size_t>(2 * s) + (op.is_forward ? 1 : 0)];
      const Message& message = op.is_forward ? stage.send_forward : stage.send_backward;
      link = std::max(link, free) + message.alone.si;
      arrivals_.at(place(s, op)) = link;
    }
    return true;
  }

  // The neighbour in the ring of chunks, or the forward of the same chunk where the model ends.
  double input_of(int s, Operation op) {
    if (op.is_forward) {
      if (s == 0 && op.chunk == 0) {
        return 0.0;
      }
      op.chunk -= s == 0 ? 1 : 0;
      return arrivals_.at(place((s + stages_ - 1) % stages_, op));
    }
    if (s == stages_ - 1 && op.chunk == chunks_ - 1) {
      op.is_forward = true;
      return end(s, op);
    }
    op.chunk += s == stages_ - 1 ? 1 : 0;
    return arrivals_.at(place((s + 1) % stages_, op));
  }

  double network_end(int s) {
    double busy = 0.0;
    for (int chunk = chunks_ - 1; chunk >= 0; --chunk) {
      const double ready = end(s, {false, chunk, plan_.layout.micro_batches - 1});
      const auto place = static_cast<std::size_t>(chunks_ - 1 - chunk);
      const Bucket& bucket = plan_.stages[static_cast<std::size_t>(s)].buckets[place];
      busy = std::max(busy, ready) + plan_.kind(bucket).rounds[0].message.alone.si;
    }
    return busy;
  }

  const StepPlan& plan_;
  int stages_;
  int chunks_;
  std::vector<double> ends_;      // of operations; not yet: below zero
  std::vector<double> arrivals_;  // of their outputs, the same
  std::vector<double> links_;     // until when they are taken, backward and forward of each stage
};

}  // namespace

TEST_CASE("gradients of interleaved chunks travel as soon as their last micro-batch has passed") {
  const Shape shape = GENERATE(Shape{1, 1, 4}, Shape{2, 1, 3}, Shape{4, 1, 6}, Shape{2, 2, 4},
                               Shape{4, 2, 4}, Shape{4, 3, 8}, Shape{3, 5, 9}, Shape{8, 2, 16});
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const PipelinePlan pipeline(seed, shape);
    const StepPrediction prediction = evaluate(pipeline.plan);
    INFO("pp " << shape.stages << ", chunks " << shape.chunks << ", seed " << seed);
    CHECK_THAT(prediction.step / Events(pipeline.plan).step(), WithinRel(1.0, 1e-12));
    CHECK_THAT(prediction.waterfall.total() / prediction.step, WithinRel(1.0, 1e-12));
    CHECK(prediction.waterfall.bubble / prediction.step > -1e-12);
  }
}

TEST_CASE("interleaving hides gradients that one block at the end could not") {
  // 4 equal stages and one bucket a chunk. In one block the bucket is complete when backward ends;
  // with 4 chunks three of four leave while 12, 8 and 4 more operations run.
  const auto exposed = [](int chunks) {
    StepPlan plan;
    plan.layout.pp = 4;
    plan.layout.virtual_stages = chunks;
    plan.layout.micro_batches = 8;
    plan.overlap = true;
    auto compute = std::make_shared<StageCompute>();
    BucketKind& kind = plan.kinds.emplace_back();
    kind.rounds.emplace_back().message.alone = 8_ms / chunks;
    plan.stages.resize(4);
    for (int c = 0; c < chunks; ++c) {
      compute->forward_chunks.push_back(static_cast<std::size_t>(c));
      compute->backward_chunks.push_back(static_cast<std::size_t>(c));
      compute->forward.push_back({{WorkKind::forward, 8_ms / chunks}, {}});
      compute->backward.push_back({{WorkKind::backward, 16_ms / chunks}, {}});
      plan.stages[0].buckets.push_back({c, 0});
    }
    compute->forward_work = 8_ms;
    compute->backward_work = 16_ms;
    for (StagePlan& stage : plan.stages) {
      stage.compute = compute;
    }
    return evaluate(plan).waterfall.exposed_dp;
  };
  // Of the last chunk's message nothing hides, of the others everything.
  CHECK_THAT(exposed(1) / 8_ms, WithinRel(1.0, 1e-12));
  CHECK_THAT(exposed(4) / 2_ms, WithinRel(1.0, 1e-12));
}

TEST_CASE("what gradients add to a last backward pass delays the stages before it") {
  // Three stages, two pieces backward of 1 ms each; behind the first piece of the last stage 4 ms
  // of encoding on the compute stream. Its activations' gradients leave 4 ms later, and nobody has
  // time to make up for it: the whole step is 4 ms longer, bubble of the first stage.
  const auto step = [](Seconds encode, Placement placement) {
    StepPlan plan;
    plan.layout.pp = 3;
    plan.layout.micro_batches = 3;
    plan.overlap = true;
    plan.placement = placement;
    auto compute = std::make_shared<StageCompute>();
    compute->forward = {{{WorkKind::forward, 1_ms}, {}}};
    compute->backward = {{{WorkKind::backward, 1_ms}, {}}, {{WorkKind::backward, 1_ms}, {}}};
    compute->forward_work = 1_ms;
    compute->backward_work = 2_ms;
    plan.stages.resize(3);
    for (std::size_t s = 0; s < 3; ++s) {
      plan.stages[s].compute = compute;
      plan.stages[s].like = s;
    }
    plan.stages[2].buckets.push_back({0, 0});
    plan.kinds.emplace_back().rounds.push_back({{WorkKind::encode, encode}, {}});
    return evaluate(plan);
  };
  const StepPrediction without = step(0_s, Placement::compute_stream);
  const StepPrediction with = step(4_ms, Placement::compute_stream);
  CHECK_THAT((with.step - without.step) / 1_ms, WithinRel(4.0, 1e-12));
  CHECK_THAT((with.waterfall.bubble - without.waterfall.bubble) / 1_ms, WithinRel(4.0, 1e-12));
  // On a stream of its own it shares the units with the second piece: 1 ms longer, and its last
  // 3 ms run in the bubble that the last stage has at its end.
  const StepPrediction beside = step(4_ms, Placement::side_stream);
  CHECK_THAT((beside.step - without.step) / 1_ms, WithinRel(1.0, 1e-12));
}

TEST_CASE("the first and the last stage of a pipeline send in one direction only") {
  // Four micro-batches: stage 0 sends four activations, stage 1 as many and four gradients.
  StepPlan plan;
  plan.layout.pp = 2;
  plan.layout.micro_batches = 4;
  auto compute = std::make_shared<StageCompute>();
  compute->forward = {{{WorkKind::forward, 1_ms}, {}}};
  compute->backward = {{{WorkKind::backward, 2_ms}, {}}};
  compute->forward_work = 1_ms;
  compute->backward_work = 2_ms;
  plan.stages.resize(2);
  for (StagePlan& stage : plan.stages) {
    stage.compute = compute;
    stage.send_forward.size = 3_MB;
    stage.send_backward.size = 5_MB;
  }
  CHECK(evaluate(plan).pp_bytes == 12_MB);  // stage 0 ends last
  plan.stages[1].optimizer.alone = 100_ms;
  CHECK(evaluate(plan).pp_bytes == 20_MB);
}
