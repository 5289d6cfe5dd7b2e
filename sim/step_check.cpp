// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "sim/beyond_clock.hpp"
#include "sim/group_programs.hpp"
#include "sim/step.hpp"
#include "sim/step_pieces.hpp"

// What a run would cost and whether it can be run at all, before it is.

namespace payoff::sim {
namespace {

// The tasks of one stage, micro-batches counted.
struct StageTasks {
  std::uint64_t count{};

  void add(Seconds alone, std::uint64_t times = 1) { count += alone > 0_s ? times : 0; }

  void add(const BucketKind& kind, std::uint64_t times) {
    for (const BucketRound& round : kind.rounds) {
      add(round.encode.alone, times);
      add(round.message.alone, times);
    }
    add(kind.decode.alone, times);
  }
};

// Messages of a stage, equal ones together.
class MessageCounts {
 public:
  void add(const Message& message, std::uint64_t times) {
    const auto same = std::find_if(all_.begin(), all_.end(),
                                   [&](const auto& known) { return known.first == message; });
    if (same == all_.end()) {
      all_.emplace_back(message, times);
    } else {
      same->second += times;
    }
  }
  [[nodiscard]] const std::vector<std::pair<Message, std::uint64_t>>& all() const { return all_; }

 private:
  std::vector<std::pair<Message, std::uint64_t>> all_;
};

std::string megabytes(Bytes size) {
  return std::to_string(static_cast<std::uint64_t>(size / 1_MB)) + " MB";
}

// What one rank of a stage hands over to its groups.
void add_messages(const StepPlan& plan, std::size_t s, MessageCounts& counts) {
  const StagePlan& stage = plan.stages[s];
  const auto micro_batches = static_cast<std::uint64_t>(plan.layout.micro_batches);
  const auto add_rounds = [&](const BucketKind& kind, std::uint64_t times) {
    for (const BucketRound& round : kind.rounds) {
      counts.add(round.message, times);
    }
  };
  for (const auto* pieces : {&stage.compute->forward, &stage.compute->backward}) {
    for (const Piece& piece : *pieces) {
      counts.add(piece.message, micro_batches);
    }
  }
  for (const Bucket& bucket : plan.buckets(s)) {
    add_rounds(plan.kind(bucket), plan.reduces_every_micro_batch ? micro_batches : 1);
  }
  for (const auto* gathers : {&stage.forward_gathers, &stage.backward_gathers}) {
    for (const WeightGather& gather : *gathers) {
      add_rounds(plan.kinds[gather.kind], plan.gathers_once ? 1 : micro_batches);
    }
  }
  counts.add(stage.gather_weights, 1);
  counts.add(stage.gather_experts, 1);
}

// Groups of a kind are alike in a stage: the first one stands for all.
std::uint64_t sends_of(const StepPlan& plan, const Platform& platform) {
  if (platform.send_network() == nullptr) {
    return 0;
  }
  GroupPrograms programs(*platform.send_network());
  const std::vector<Place>& places = platform.places().places;
  std::uint64_t sends = 0;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const auto in_stage = [&](const Place& place) { return place.stage == s; };
    const auto first = std::find_if(places.begin(), places.end(), in_stage);
    const auto ranks =
        static_cast<std::uint64_t>(std::count_if(places.begin(), places.end(), in_stage));
    MessageCounts counts;
    add_messages(plan, s, counts);
    for (const auto& [message, times] : counts.all()) {
      const std::size_t group = first->group[static_cast<std::size_t>(group_kind(message.kind))];
      const GroupProgram* program = programs.of(group, message);
      const std::uint64_t groups = ranks / platform.places().groups[group].size();
      sends += program != nullptr ? program->sends * groups * times : 0;
    }
  }
  return sends;
}

std::string advice(const Estimate& cost) {
  if (cost.sends > 0) {
    return std::to_string(cost.sends) +
           " of them are sends: without `--level steps` a message is one event for each rank; or "
           "simulate fewer micro-batches or larger training.bucket, or raise --event-limit";
  }
  return "simulate fewer micro-batches: the pipeline repeats itself, or raise --event-limit; "
         "hashed routes and jitter do not fold";
}

StageTasks tasks_of(const StepPlan& plan, std::size_t s) {
  const StagePlan& stage = plan.stages[s];
  const auto micro_batches = static_cast<std::uint64_t>(plan.layout.micro_batches);
  const auto sends = micro_batches * static_cast<std::uint64_t>(plan.layout.virtual_stages);
  StageTasks sum;
  for (const auto* pieces : {&stage.compute->forward, &stage.compute->backward}) {
    for (const Piece& piece : *pieces) {
      sum.add(piece.work.alone, micro_batches);
      sum.add(piece.message.alone, micro_batches);
    }
  }
  sum.add(stage.send_forward.alone, sends);
  sum.add(stage.send_backward.alone, sends);
  const std::uint64_t reductions = plan.reduces_every_micro_batch ? micro_batches : 1;
  for (const Bucket& bucket : plan.buckets(s)) {
    sum.add(plan.kind(bucket), reductions);
  }
  for (const auto* gathers : {&stage.forward_gathers, &stage.backward_gathers}) {
    for (const WeightGather& gather : *gathers) {
      sum.add(plan.kinds[gather.kind], plan.gathers_once ? 1 : micro_batches);
    }
  }
  sum.add(stage.optimizer.alone);
  sum.add(stage.gather_weights.alone);
  sum.add(stage.gather_experts.alone);
  sum.add(plan.host);
  return sum;
}

// What a run keeps, by what makes it grow.
struct Kept {
  Bytes buckets;     // queued ones
  Bytes pieces;      // of forward and backward
  Bytes inputs;      // on their way between stages
  Bytes operations;  // of all micro-batches
  std::uint64_t places{};

  [[nodiscard]] Bytes all() const { return buckets + pieces + inputs + operations; }
};

// The analytical answer keeps a date for every operation of a stage; where backward is split, each
// place lists its operations, three for a micro-batch.
Bytes operations_memory(const StepPlan& plan, std::uint64_t places) {
  constexpr double operations = 2;
  constexpr double listed_operations = 3;
  const double passes = static_cast<double>(plan.layout.micro_batches) * plan.layout.virtual_stages;
  const double dates = static_cast<double>(plan.stages.size()) * operations * passes;
  const double listed = splits_backward(plan.layout.schedule) ? listed_operations * passes : 0;
  return Bytes{dates * sizeof(double)} +
         Bytes{static_cast<double>(places) * listed * sizeof(Operation)};
}

std::vector<std::uint64_t> places_of_stages(const StepPlan& plan, const Platform& platform) {
  std::vector<std::uint64_t> places(plan.stages.size(), platform.places().places.empty() ? 1 : 0);
  for (const Place& place : platform.places().places) {
    ++places[place.stage];
  }
  return places;
}

Kept kept(const StepPlan& plan, const Platform& platform) {
  constexpr Bytes of_task{400};  // queued buckets, inputs on their way
  constexpr Bytes of_piece{16};
  const std::vector<std::uint64_t> places = places_of_stages(plan, platform);
  Kept result;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const auto count = static_cast<double>(places[s]);
    const StageCompute& compute = *plan.stages[s].compute;
    result.pieces +=
        count * static_cast<double>(compute.forward.size() + compute.backward.size()) * of_piece;
    for (const Bucket& bucket : plan.buckets(s)) {
      result.buckets +=
          count * static_cast<double>(2 * plan.kind(bucket).rounds.size() + 1) * of_task;
    }
    result.inputs += count * (8.0 + plan.layout.pp * plan.layout.virtual_stages) * of_task;
    result.places += places[s];
  }
  result.operations = operations_memory(plan, result.places);
  return result;
}

// The key that what is largest grows with, and what to do about it.
Problem too_much_memory(const Kept& memory, std::size_t stages, Bytes limit) {
  Problem problem;
  const Bytes most = std::max({memory.buckets, memory.pieces, memory.inputs, memory.operations});
  if (most == memory.buckets) {
    problem = {"training.bucket", "buckets of gradients", "make them larger"};
  } else if (most == memory.operations) {
    problem = {"layout.micro_batches", "operations of all micro-batches",
               "simulate fewer of them: the pipeline repeats itself"};
  } else if (most == memory.inputs) {
    problem = {"layout.pp", "what is on its way between pipeline stages",
               "simulate fewer stages or chunks of stages"};
  } else {
    problem = {"model", "the layers of the model", "simulate fewer of them"};
  }
  problem.message = "the simulation needs about " + megabytes(memory.all()) +
                    " of memory, more than " + megabytes(limit) + ", most of it for " +
                    problem.message;
  if (memory.places > stages) {
    problem.help += "; " + std::to_string(memory.places) +
                    " places are simulated because ranks of a stage differ: hashed routes, jitter, "
                    "`--level steps` and `--no-fold` do not fold";
  }
  return problem;
}

}  // namespace

Estimate estimate(const StepPlan& plan, const Platform& platform) {
  constexpr Bytes of_span{210};  // on average
  const std::vector<std::uint64_t> places = places_of_stages(plan, platform);
  Estimate result;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    result.events += places[s] * tasks_of(plan, s).count;
  }
  result.memory = kept(plan, platform).all();
  result.trace = static_cast<double>(result.events) * of_span;  // programs are one span each
  for (const Seconds time : {plan.overheads.host_jitter, plan.overheads.data.time,
                             plan.overheads.checkpoint.copy + plan.overheads.checkpoint.write}) {
    result.events += time > 0_s ? 1U : 0U;
  }
  result.sends = sends_of(plan, platform);
  result.events += result.sends;
  return result;
}

Problems check(const StepPlan& plan, const Platform& platform, const SimOptions& options) {
  Problems problems = check(platform);
  if (!problems.empty()) {
    return problems;  // no time on a link without bandwidth
  }
  if (auto problem = beyond_clock(plan, platform)) {
    problems.push_back(*std::move(problem));
  }
  const Estimate cost = estimate(plan, platform);
  if (cost.events > options.event_limit) {
    problems.push_back({"layout.micro_batches",
                        "the simulation has up to " + std::to_string(cost.events) +
                            " events, more than " + std::to_string(options.event_limit),
                        advice(cost)});
  }
  if (cost.memory > options.memory_limit) {
    problems.push_back(
        too_much_memory(kept(plan, platform), plan.stages.size(), options.memory_limit));
  }
  return problems;
}

}  // namespace payoff::sim
