// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "sim/group_programs.hpp"
#include "sim/step.hpp"
#include "sim/step_pieces.hpp"

// What a run would cost and whether it can be run at all, before it is.

namespace payoff::sim {
namespace {

// Every time of one stage, micro-batches counted.
struct StageSum {
  Seconds time;
  std::uint64_t tasks{};

  void add(Seconds alone, std::uint64_t times = 1) {
    if (alone > 0_s) {
      time += static_cast<double>(times) * alone;
      tasks += times;
    }
  }

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
      add_rounds(plan.kinds[gather.kind], micro_batches);
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

StageSum sum_of(const StepPlan& plan, std::size_t s) {
  const StagePlan& stage = plan.stages[s];
  const auto micro_batches = static_cast<std::uint64_t>(plan.layout.micro_batches);
  const auto sends = micro_batches * static_cast<std::uint64_t>(plan.layout.virtual_stages);
  StageSum sum;
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
      sum.add(plan.kinds[gather.kind], micro_batches);
    }
  }
  sum.add(stage.optimizer.alone);
  sum.add(stage.gather_weights.alone);
  sum.add(stage.gather_experts.alone);
  sum.add(plan.host);
  return sum;
}

// The analytical answer keeps a date for every operation of a stage; where backward is split, each
// place lists its operations, three for a micro-batch.
Bytes operations_memory(const StepPlan& plan, const std::vector<std::uint64_t>& places) {
  constexpr double operations = 2;
  constexpr double listed_operations = 3;
  const double passes = static_cast<double>(plan.layout.micro_batches) * plan.layout.virtual_stages;
  const double dates = static_cast<double>(plan.stages.size()) * operations * passes;
  Bytes memory{dates * sizeof(double)};
  if (splits_backward(plan.layout.schedule)) {
    const double of_place = listed_operations * passes * sizeof(Operation);
    for (const std::uint64_t count : places) {
      memory += Bytes{static_cast<double>(count) * of_place};
    }
  }
  return memory;
}

}  // namespace

Estimate estimate(const StepPlan& plan, const Platform& platform) {
  constexpr Bytes of_task{400};  // queued buckets, inputs on their way
  constexpr Bytes of_piece{16};
  constexpr Bytes of_span{210};  // on average
  std::vector<std::uint64_t> places(plan.stages.size(), platform.places().places.empty() ? 1 : 0);
  for (const Place& place : platform.places().places) {
    ++places[place.stage];
  }
  Estimate result;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const StageCompute& compute = *plan.stages[s].compute;
    result.events += places[s] * sum_of(plan, s).tasks;
    Bytes memory = static_cast<double>(compute.forward.size() + compute.backward.size()) * of_piece;
    for (const Bucket& bucket : plan.buckets(s)) {
      memory += static_cast<double>(2 * plan.kind(bucket).rounds.size() + 1) * of_task;
    }
    memory += (8.0 + plan.layout.pp * plan.layout.virtual_stages) * of_task;
    result.memory += static_cast<double>(places[s]) * memory;
  }
  result.memory += operations_memory(plan, places);
  result.trace = static_cast<double>(result.events) * of_span;  // programs are one span each
  result.sends = sends_of(plan, platform);
  result.events += result.sends;
  return result;
}

Problems check(const StepPlan& plan, const Platform& platform, const SimOptions& options) {
  Problems problems = check(platform);
  Seconds all;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    all += sum_of(plan, s).time;
  }
  double slowest = 1;
  for (const Place& place : platform.places().places) {
    slowest = std::max(slowest, place.slowdown);
  }
  all *= slowest;
  // Whatever waits for what, a step is not longer than everything one after the other, at half
  // speed at worst; contention beyond that is found on the way.
  if (auto problem = check_time(all, "step")) {
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
    problems.push_back({"training.bucket",
                        "the simulation needs about " + megabytes(cost.memory) +
                            " of memory, more than " + megabytes(options.memory_limit),
                        "what is kept grows with the number of buckets: make them larger"});
  }
  return problems;
}

}  // namespace payoff::sim
