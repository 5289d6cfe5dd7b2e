// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/random_plans.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace payoff::test {
namespace {

struct PieceMessage {
  MessageKind kind = MessageKind::tp_activations;
  Seconds alone;
};

void add(StageCompute& compute, WorkKind kind, Seconds time, const PieceMessage& message) {
  const bool forward = kind == WorkKind::forward;
  const Message sent{message.kind, Collective::all_reduce, 1_MB, message.alone, 0, 0};
  (forward ? compute.forward : compute.backward).push_back({{kind, time, {}}, sent});
  if (message.kind == MessageKind::cp_activations) {
    compute.context_messages += message.alone;
  } else if (message.kind == MessageKind::ep_activations) {
    compute.expert_messages += message.alone;
  }
  (forward ? compute.forward_messages : compute.backward_messages) += message.alone;
  switch (kind) {
    case WorkKind::forward:
      compute.forward_work += time;
      break;
    case WorkKind::recompute:
      compute.recompute_work += time;
      break;
    default:
      compute.backward_work += time;
  }
}

// Chunks of one to four pieces each, forward and backward, equal ones or each its own.
// Where backward is split, its second half stands for the gradients of weights.
StageCompute random_compute(Random& random, int chunks, bool splits) {
  StageCompute compute;
  PieceMessage message{.alone = random.chance(40) ? random.time(1_us, 1_ms) : Seconds{}};
  if (random.chance(40)) {
    message.kind = random.chance(50) ? MessageKind::cp_activations : MessageKind::ep_activations;
  }
  const bool recomputes = random.chance(30);
  const bool equal = random.chance(50);
  std::vector<std::vector<Seconds>> times(static_cast<std::size_t>(chunks));
  for (std::vector<Seconds>& chunk : times) {
    if (equal && &chunk != &times.front()) {
      chunk = times.front();
      continue;
    }
    chunk.resize(static_cast<std::size_t>(random.integer(1, 4)));
    for (Seconds& time : chunk) {
      time = random.time(10_us, 3_ms);
    }
  }
  for (const std::vector<Seconds>& chunk : times) {
    compute.forward_chunks.push_back(compute.forward.size());
    for (const Seconds time : chunk) {
      add(compute, WorkKind::forward, time, message);
    }
  }
  std::reverse(times.begin(), times.end());
  for (const std::vector<Seconds>& chunk : times) {
    compute.backward_chunks.push_back(compute.backward.size());
    for (const Seconds time : chunk) {
      if (recomputes) {
        add(compute, WorkKind::recompute, time, {});
      }
      add(compute, WorkKind::backward, 1.9 * time, message);
    }
  }
  if (splits) {
    for (const std::vector<Seconds>& chunk : times) {
      compute.backward_chunks.push_back(compute.backward.size());
      for (const Seconds time : chunk) {
        add(compute, WorkKind::backward, 0.9 * time, {});
      }
    }
  }
  return compute;
}

void add_buckets(Random& random, StepPlan& plan, std::size_t stage, int count, bool codec) {
  const int last = static_cast<int>(plan.stages[stage].compute->backward.size()) - 1;
  const int rounds = random.integer(1, 3);
  // What completes gradients are the last ranges of backward, or all of its chunks.
  const auto chunks = static_cast<std::size_t>(plan.layout.virtual_stages);
  int ready = splits_backward(plan.layout.schedule)
                  ? static_cast<int>(plan.stages[stage].compute->backward_chunks[chunks])
                  : 0;
  for (int b = 0; b < count; ++b) {
    ready = std::min(last, ready + random.integer(0, 2));
    BucketKind kind;
    for (int r = 0; r < rounds; ++r) {
      const Seconds encode = codec ? random.time(1_us, 1_ms) : Seconds{};
      kind.rounds.push_back({{WorkKind::encode, encode, encode * random.between(0, 1)},
                             {MessageKind::dp_gradients, Collective::all_reduce, 1_MB,
                              random.time(10_us, 8_ms), 0, 0}});
    }
    kind.decode = {WorkKind::decode, codec ? random.time(1_us, 1_ms) : Seconds{}, {}};
    plan.stages[stage].buckets.push_back({ready, plan.kinds.size()});
    plan.kinds.push_back(std::move(kind));
  }
}

void add_stage(Random& random, StepPlan& plan, Seconds longest_send) {
  StagePlan stage;
  stage.like = plan.stages.size();
  stage.compute = std::make_shared<const StageCompute>(
      random_compute(random, plan.layout.virtual_stages, splits_backward(plan.layout.schedule)));
  stage.optimizer = {WorkKind::optimizer, random.time(0_s, 1_ms), {}};
  if (random.chance(20)) {
    stage.gather_experts = {
        MessageKind::ep_weights, Collective::all_gather, 1_MB, random.time(10_us, 5_ms), 0, 0};
  }
  if (random.chance(20)) {
    stage.gather_weights = {
        MessageKind::dp_weights, Collective::all_gather, 1_MB, random.time(10_us, 5_ms), 0, 0};
  }
  if (plan.layout.pp > 1) {
    stage.send_forward = {MessageKind::pp_activations,
                          Collective::send_recv,
                          1_MB,
                          random.time(1_us, longest_send),
                          0,
                          0};
    stage.send_backward = stage.send_forward;
  }
  plan.stages.push_back(std::move(stage));
}

// Equal stages stay equal.
template <typename Change>
void change_computes(StepPlan& plan, Change change) {
  for (StagePlan& stage : plan.stages) {
    if (&stage == &plan.stages[stage.like]) {
      auto compute = std::make_shared<StageCompute>(*stage.compute);
      change(*compute);
      stage.compute = compute;
    } else {
      stage.compute = plan.stages[stage.like].compute;
    }
  }
}

// Most plans: kernels of known blocks, up to three waves of 132 units, in three of four
// pieces.
void know_kernels(Random& random, StepPlan& plan) {
  if (random.chance(30)) {
    return;
  }
  auto waves = std::make_shared<WaveTable>(132);
  std::vector<std::size_t> mixes{0};
  for (int i = 0; i < 3; ++i) {
    KernelMix mix{1_ms, {}};
    for (int kernel = random.integer(1, 3); kernel > 0; --kernel) {
      mix.known.push_back({random.integer(1, 396), random.time(0_s, 0.3_ms)});
    }
    mixes.push_back(waves->add(mix));
  }
  change_computes(plan, [&](StageCompute& compute) {
    for (auto* pieces : {&compute.forward, &compute.backward}) {
      for (Piece& piece : *pieces) {
        piece.work.mix = mixes[static_cast<std::size_t>(random.integer(0, 3))];
      }
    }
  });
  plan.waves = waves;
}

// Half of the plans: messages that ask for up to 60 % of the memory, work for all of it.
void share_memory(Random& random, StepPlan& plan) {
  if (random.chance(50)) {
    return;
  }
  change_computes(plan, [&](StageCompute& compute) {
    for (Piece& piece : compute.backward) {
      piece.work.memory_share = random.between(0, 1);
    }
  });
  for (BucketKind& kind : plan.kinds) {
    for (BucketRound& round : kind.rounds) {
      round.encode.memory_share = random.between(0, 1);
      round.message.memory_share = random.between(0, 0.6);
    }
    kind.decode.memory_share = random.between(0, 1);
  }
}

Placement own_stream(Random& random) {
  const int kind = random.integer(0, 3);
  return kind == 0   ? Placement::low_priority_stream
         : kind == 1 ? Placement::high_priority_stream
                     : Placement::side_stream;
}

}  // namespace

RandomPlan random_replicas(std::uint64_t seed) {
  Random random(seed);
  StepPlan plan;
  plan.layout.micro_batches = random.chance(40) ? random.integer(2, 6) : 1;
  plan.overlap = random.chance(95);
  plan.placement = random.chance(8)    ? Placement::after_backward
                   : random.chance(50) ? own_stream(random)
                                       : Placement::compute_stream;
  plan.reserved_share = random.chance(90) ? random.between(0.01, 0.4) : 0.0;
  plan.pair_quantile = random.chance(50) ? 0.5 : random.between(0, 1);
  plan.host = random.time(0_s, 1_ms);
  add_stage(random, plan, 0_s);
  const int buckets = random.chance(4) ? 0 : random.integer(1, 8);
  add_buckets(random, plan, 0, buckets, random.chance(60));
  share_memory(random, plan);
  know_kernels(random, plan);
  return {plan, traits_of(plan)};
}

namespace {

// The rest of a plan whose layout is known.
RandomPlan pipeline_of(Random& random, StepPlan plan) {
  plan.overlap = random.chance(85);
  plan.placement = random.chance(15)   ? Placement::after_backward
                   : random.chance(50) ? own_stream(random)
                                       : Placement::compute_stream;
  plan.reserved_share = random.chance(80) ? random.between(0.01, 0.4) : 0.0;
  plan.host = random.time(0_s, 1_ms);
  const bool buckets = random.chance(90);
  const bool codec = random.chance(60);
  const bool like_first = random.chance(40);
  // Slower than what they wait for: they queue, and the last ones are late.
  const Seconds longest_send = random.chance(40) ? 20_ms : 1_ms;
  for (int s = 0; s < plan.layout.stages(); ++s) {
    if (like_first && s > 0 && random.chance(80)) {
      StagePlan stage = plan.stages.front();
      stage.buckets.clear();
      stage.like = 0;
      plan.stages.push_back(std::move(stage));
      continue;
    }
    add_stage(random, plan, longest_send);
    add_buckets(random, plan, static_cast<std::size_t>(s), buckets ? random.integer(1, 6) : 0,
                codec);
  }
  share_memory(random, plan);
  plan.send_share = random.chance(60) ? random.between(0.01, 0.3) : 0.0;
  know_kernels(random, plan);
  if (!is_v_shaped(plan.layout.schedule) && random.chance(60)) {
    plan.tied_gradients = {
        MessageKind::tied_gradients, Collective::all_reduce, 1_MB, random.time(10_us, 20_ms), 0, 0};
    plan.stages.back().optimizer.alone += 10_us;  // they begin together: one ends last
  }
  return {plan, traits_of(plan)};
}

}  // namespace

RandomPlan random_pipeline(std::uint64_t seed) {
  Random random(seed);
  StepPlan plan;
  plan.layout.pp = random.integer(2, 6);
  plan.layout.virtual_stages = random.chance(50) ? random.integer(2, 3) : 1;
  if (plan.layout.virtual_stages == 1 && random.chance(60)) {
    plan.layout.schedule = static_cast<PipelineSchedule>(random.integer(1, 3));
  }
  plan.layout.micro_batches = plan.layout.virtual_stages > 1 ? plan.layout.pp * random.integer(1, 3)
                                                             : random.integer(1, 12);
  return pipeline_of(random, std::move(plan));
}

RandomPlan random_v_pipeline(std::uint64_t seed) {
  Random random(seed);
  StepPlan plan;
  plan.layout.pp = random.integer(2, 6);
  plan.layout.virtual_stages = 2;
  plan.layout.schedule = random.chance(50) ? PipelineSchedule::zb_v : PipelineSchedule::dualpipe_v;
  plan.layout.micro_batches = random.integer(1, 16);
  return pipeline_of(random, std::move(plan));
}

// Messages of pieces, each its own, and gradients of weights behind some of those of inputs.
void mix_pieces(Random& random, StageCompute& compute) {
  compute.forward_messages = compute.backward_messages = {};
  compute.context_messages = compute.expert_messages = {};
  const std::size_t weights = compute.backward_chunks[2];
  for (auto* pieces : {&compute.forward, &compute.backward}) {
    for (Piece& piece : *pieces) {
      const bool of_weights = pieces == &compute.backward &&
                              static_cast<std::size_t>(&piece - pieces->data()) >= weights;
      if (of_weights) {
        continue;
      }
      piece.work.memory_share = random.between(0, 1);
      piece.message.alone = random.chance(70) ? random.time(1_us, 3_ms) : Seconds{};
      piece.message.memory_share = random.between(0, 0.6);
      const Seconds alone = piece.message.alone;
      (pieces == &compute.forward ? compute.forward_messages : compute.backward_messages) += alone;
      if (piece.message.kind == MessageKind::cp_activations) {
        compute.context_messages += alone;
      } else if (piece.message.kind == MessageKind::ep_activations) {
        compute.expert_messages += alone;
      }
    }
  }
  if (random.chance(70)) {  // as many pieces as gradients of inputs
    for (std::size_t i = weights; i < compute.backward.size(); ++i) {
      compute.weights_after.push_back(i - weights + 1);
    }
  }
}

RandomPlan random_pairs(std::uint64_t seed) {
  Random random(seed);
  StepPlan plan;
  plan.layout.schedule =
      random.chance(50) ? PipelineSchedule::dualpipe : PipelineSchedule::dualpipe_v;
  plan.layout.virtual_stages = 2;
  plan.layout.pair_overlap = true;
  plan.layout.pp = plan.layout.copies() * random.integer(2, 6);
  plan.layout.micro_batches = plan.layout.copies() * random.integer(1, 16);
  plan = pipeline_of(random, std::move(plan)).plan;
  plan.exchange_share = random.chance(80) ? random.between(0.01, 0.3) : 0.0;
  change_computes(plan, [&](StageCompute& compute) {
    if (compute.backward.front().work.kind != WorkKind::recompute) {
      mix_pieces(random, compute);
    }
  });
  return {plan, traits_of(plan)};
}

Traits traits_of(const StepPlan& plan) {
  Traits traits;
  traits.pipeline = plan.layout.pp > 1;
  traits.interleaved = plan.layout.virtual_stages > 1;
  traits.accumulation = !traits.pipeline && plan.layout.micro_batches > 1;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    for (const Piece& piece : plan.stages[s].compute->forward) {
      traits.tensor_parallel = traits.tensor_parallel || piece.message.alone > 0_s;
    }
    for (const Piece& piece : plan.stages[s].compute->backward) {
      traits.waves = traits.waves || piece.work.mix > 0;
    }
    for (const Bucket& bucket : plan.buckets(s)) {
      const BucketKind& kind = plan.kind(bucket);
      traits.buckets = true;
      traits.rounds = traits.rounds || kind.rounds.size() > 1;
      traits.codec =
          traits.codec || kind.decode.codec() > 0_s || kind.rounds.front().encode.codec() > 0_s;
    }
  }
  const bool beside = plan.overlap && plan.placement != Placement::after_backward;
  traits.interference =
      (traits.pipeline && plan.send_share > 0) ||
      (traits.buckets && beside &&
       (plan.reserved_share > 0 || (traits.codec && has_own_stream(plan.placement))));
  traits.waves = traits.waves && traits.interference;
  traits.tied = plan.sums_tied(0);
  return traits;
}

}  // namespace payoff::test
