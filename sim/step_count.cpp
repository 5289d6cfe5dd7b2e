// SPDX-License-Identifier: Apache-2.0
#include "sim/step_count.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <vector>

#include "sim/group_programs.hpp"
#include "sim/place.hpp"
#include "sim/stage_messages.hpp"
#include "sim/step_pieces.hpp"

namespace payoff::sim {
namespace {

// What a GPU of a stage does by itself, of so many events.
class OwnTasks {
 public:
  OwnTasks(const StepPlan& plan, double slowdown) : plan_(plan), slowdown_(slowdown) {}

  [[nodiscard]] std::uint64_t of_stage(std::size_t s) {
    const StagePlan& stage = plan_.stages[s];
    const auto micro_batches = static_cast<std::uint64_t>(plan_.layout.passes());
    for (const auto* pieces : {&stage.compute->forward, &stage.compute->backward}) {
      for (const Piece& piece : *pieces) {
        add(piece.work, micro_batches);
      }
    }
    for (const Bucket& bucket : plan_.buckets(s)) {
      add(plan_.kind(bucket), reductions_of(plan_));
    }
    for (const auto* gathers : {&stage.forward_gathers, &stage.backward_gathers}) {
      for (const WeightGather& gather : *gathers) {
        add(plan_.kinds[gather.kind], gathers_of(plan_));
      }
    }
    add(stage.optimizer, 1);
    count_ += time_of(plan_.host).picoseconds > 0 ? 1U : 0U;
    return count_;
  }

 private:
  void add(const payoff::Work& work, std::uint64_t times) {
    count_ += time_of(work.alone * slowdown_).picoseconds > 0 ? times : 0U;
  }
  void add(const BucketKind& kind, std::uint64_t times) {
    for (const BucketRound& round : kind.rounds) {
      add(round.encode, times);
      add(round.host, times);
    }
    add(kind.decode, times);
    add(kind.host_decode, times);
  }
  void add(const HostWork& work, std::uint64_t times) {
    count_ += time_of(work.copy).picoseconds > 0 ? times : 0U;
    count_ += time_of(work.work).picoseconds > 0 ? times : 0U;
  }

  const StepPlan& plan_;
  double slowdown_;
  std::uint64_t count_{};
};

class Counter {
 public:
  Counter(const StepPlan& plan, const Platform& platform)
      : plan_(plan), platform_(platform), places_(places_of(plan, platform)) {
    if (platform.send_network() != nullptr) {
      programs_.emplace(*platform.send_network());
    }
  }

  [[nodiscard]] StepCount count() {
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      std::vector<const Place*> of_stage;
      for (const Place& place : places_.places) {
        if (place.stage == s) {
          of_stage.push_back(&place);
        }
      }
      add_work(s, of_stage);
      for (const StageMessage& message : messages_of_stage(plan_, s)) {
        add_message(message, of_stage);
      }
    }
    const StepOverheads& overheads = plan_.overheads;
    for (const Seconds time : {overheads.host_jitter, overheads.data.time,
                               overheads.checkpoint.copy + overheads.checkpoint.write}) {
      result_.events += time > 0_s ? 1U : 0U;
    }
    return result_;
  }

 private:
  // A slow GPU may take time for what rounds to nothing on the others.
  void add_work(std::size_t s, const std::vector<const Place*>& places) {
    double slowdown = 0;
    std::uint64_t tasks = 0;
    for (const Place* place : places) {
      if (place->slowdown != slowdown) {
        slowdown = place->slowdown;
        tasks = OwnTasks(plan_, slowdown).of_stage(s);
      }
      result_.events += tasks;
      result_.spans += tasks;
    }
  }

  // Every place sends for itself; a group sends once, whatever its places, or send by send. That of
  // both ends of the pipeline counts with the first.
  void add_message(const StageMessage& message, const std::vector<const Place*>& places) {
    result_.spans += message.times * places.size();
    if (is_between_stages(message.traffic) || platform_.circles_of(*message.message) != nullptr) {
      result_.events += message.times * places.size();
      return;
    }
    if (message.message->kind == MessageKind::tied_gradients && places.front()->stage > 0) {
      return;
    }
    std::set<std::size_t> groups;
    for (const Place* place : places) {
      groups.insert(place->group_of(message.message->kind));
    }
    for (const std::size_t group : groups) {
      const GroupProgram* program = programs_ ? programs_->of(group, *message.message) : nullptr;
      const std::uint64_t sends = program != nullptr ? program->sends * message.times : 0;
      result_.sends += sends;
      result_.events += program != nullptr ? sends : message.times;
    }
  }

  const StepPlan& plan_;
  const Platform& platform_;
  Places places_;
  std::optional<GroupPrograms> programs_;
  StepCount result_;
};

}  // namespace

StepCount count_step(const StepPlan& plan, const Platform& platform) {
  return Counter(plan, platform).count();
}

}  // namespace payoff::sim
