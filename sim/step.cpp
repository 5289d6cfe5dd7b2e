// SPDX-License-Identifier: Apache-2.0
#include "sim/step.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "sim/engine.hpp"
#include "sim/invariant.hpp"
#include "sim/step_stage.hpp"
#include "sim/trace.hpp"

namespace payoff::sim {
namespace {

constexpr std::uint64_t send_tag = std::uint64_t{1} << 63U;

// Input of an operation on its way from one stage to another.
struct Send {
  std::size_t from{};
  std::size_t to{};
  Operation operation;  // of the receiver
  const PreparedMessage* message{};
  Path path;
  SimTime since;
  std::size_t lane{};  // of the trace: sends may overlap
  bool in_flight{};
};

class StepRun {
 public:
  StepRun(const StepPlan& plan, const Platform& platform, const SimOptions& options)
      : plan_(plan), options_(options), links_(engine_, platform) {
    for (std::size_t s = 0; s < plan.stages.size(); ++s) {
      stages_.emplace_back(plan, s, engine_, links_, options.trace);
      const StagePlan& stage = plan.stages[s];
      forward_.push_back(links_.prepare(stage.send_forward, s, Direction::forward));
      backward_.push_back(links_.prepare(stage.send_backward, s, Direction::backward));
      changed_.push_back(s);
    }
    sent_.resize(stages_.size());
    received_.resize(stages_.size());
  }

  SimulatedStep run() {
    advance_stages();
    bool stopped = false;
    while (!stopped && engine_.advance()) {
      for (const Completion& done : engine_.completed()) {
        handle(done);
      }
      advance_stages();
      stopped = options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed);
    }
    return result(stopped);
  }

 private:
  void handle(const Completion& done) {
    if ((done.tag & send_tag) != 0) {
      deliver(static_cast<std::size_t>(done.tag ^ send_tag));
      return;
    }
    const auto stage = static_cast<std::size_t>(done.tag >> 2U);
    stages_[stage].task_ended(static_cast<StreamKind>(done.tag & 3U));
    changed_.push_back(stage);
  }

  // Until nothing more happens at this date. A stage may start, end and send in no time.
  void advance_stages() {
    while (!changed_.empty()) {
      const std::size_t stage = changed_.back();
      changed_.pop_back();
      stages_[stage].advance();
      std::vector<StageRun::Ended> ended;
      ended.swap(stages_[stage].ended_operations());
      for (const StageRun::Ended& operation : ended) {
        pass_on(stage, operation);
      }
    }
  }

  // To the stage that needs it: the neighbour, around the ring to the next chunk, or the same one.
  void pass_on(std::size_t from, const StageRun::Ended& ended) {
    const std::size_t last = stages_.size() - 1;
    Operation next = ended.operation;
    if (next.is_forward && from == last && next.chunk + 1 == plan_.layout.virtual_stages) {
      next.is_forward = false;
      stages_[from].input_sent(next);
      stages_[from].input_arrived(next, ended.path);
      changed_.push_back(from);
      return;
    }
    if (!next.is_forward && from == 0 && next.chunk == 0) {
      return;
    }
    std::size_t to = next.is_forward ? from + 1 : from - 1;
    if (next.is_forward && from == last) {
      to = 0;
      ++next.chunk;
    } else if (!next.is_forward && from == 0) {
      to = last;
      --next.chunk;
    }
    send(from, to, next, ended.path);
  }

  void send(std::size_t from, std::size_t to, const Operation& operation, const Path& path) {
    const PreparedMessage& message = (operation.is_forward ? forward_ : backward_)[from];
    stages_[to].input_sent(operation);
    changed_.push_back(to);
    sent_[from] += message.message->size;
    received_[to] += message.message->size;
    if (message.alone.picoseconds == 0) {
      stages_[to].input_arrived(operation, path);
      return;
    }
    const auto free = std::find_if(sends_.begin(), sends_.end(),
                                   [](const Send& other) { return !other.in_flight; });
    const auto slot = static_cast<std::size_t>(free - sends_.begin());
    if (free == sends_.end()) {
      sends_.emplace_back();
    }
    stages_[from].send_begins();
    changed_.push_back(from);
    sends_[slot] = {from, to, operation, &message, path, engine_.now(), lane_for(from, operation),
                    true};
    const std::uint64_t key =
        (static_cast<std::uint64_t>(from) << 40U) | (std::uint64_t{3} << 38U) | send_count_++;
    links_.start(message, key, send_tag | slot);
  }

  [[nodiscard]] std::size_t lane_for(std::size_t from, const Operation& operation) const {
    std::size_t lane = 0;
    const auto taken = [&](const Send& other) {
      return other.in_flight && other.from == from &&
             other.operation.is_forward == operation.is_forward && other.lane == lane;
    };
    while (std::any_of(sends_.begin(), sends_.end(), taken)) {
      ++lane;
    }
    return lane;
  }

  void deliver(std::size_t slot) {
    Send& send = sends_[slot];
    send.in_flight = false;
    const SimTime alone = send.message->alone;
    send.path.add(Cause::pp_message, alone);
    send.path.count_activity();
    send.path.add(Cause::link_contention, engine_.now() - send.since - alone);
    links_.end(*send.message, send.since);
    if (options_.trace != nullptr) {
      write_trace(send);
    }
    stages_[send.from].send_ends();
    changed_.push_back(send.from);
    stages_[send.to].input_arrived(send.operation, send.path);
    changed_.push_back(send.to);
  }

  void write_trace(const Send& send) const {
    constexpr std::size_t first_track = 3;
    const bool forward = send.operation.is_forward;
    TraceSpan span;
    span.stage = send.from;
    span.track = first_track + 2 * send.lane + (forward ? 0U : 1U);
    span.track_name = forward ? "send activations" : "send activation gradients";
    span.name = name(Cause::pp_message);
    span.begin = send.since;
    span.end = engine_.now();
    span.alone = send.message->alone;
    span.collective = payoff::name(send.message->message->collective);
    span.bytes = send.message->message->size;
    span.item = "micro_batch " + std::to_string(send.operation.micro_batch) + " to stage " +
                std::to_string(send.to);
    options_.trace->write(span);
  }

  [[nodiscard]] SimulatedStep result(bool stopped) const {
    SimulatedStep step;
    step.events = engine_.completed_count();
    step.trace_hash = engine_.trace_hash();
    step.interrupted = stopped;
    step.problem = engine_.problem();
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      step.memory_delay.push_back(to_seconds(stages_[s].memory_delay()));
      PAYOFF_INVARIANT(stopped || step.problem || stages_[s].is_over(), "a stage waits for ever");
      if (stages_[s].path().end() > stages_[step.last_stage].path().end()) {
        step.last_stage = s;
      }
    }
    describe(step, stages_[step.last_stage]);
    step.pp.bytes = received_[step.last_stage];
    step.prediction.pp_bytes = sent_[step.last_stage];
    return step;
  }

  void describe(SimulatedStep& step, const StageRun& last) const {
    const StageAccount& account = last.account();
    const Waterfall& w = account.waterfall();
    step.prediction.step = to_seconds(last.path().end());
    step.prediction.waterfall = w;
    step.dp = {account.dp_busy(), w.exposed_dp, last.dp_bytes()};
    step.tp = {w.exposed_tp, w.exposed_tp, last.tp_bytes()};
    step.cp = {w.exposed_cp, w.exposed_cp, last.cp_bytes()};
    step.pp = {account.pp_busy(), w.exposed_pp, {}};
    step.prediction.dp_communication = step.dp.busy;
    step.prediction.hidden_dp = step.dp.hidden();
    step.prediction.dp_bytes = step.dp.bytes;
    step.prediction.tp_bytes = step.tp.bytes;
    step.prediction.cp_bytes = step.cp.bytes;
    for (std::size_t c = 0; c < cause_count; ++c) {
      step.critical_path[c] = to_seconds(last.path().share(static_cast<Cause>(c)));
    }
    step.path_activities = last.path().activities();
    step.links = links_.report(last.path().end());
  }

  const StepPlan& plan_;
  const SimOptions& options_;
  Engine engine_;
  Links links_;
  std::vector<StageRun> stages_;
  std::vector<PreparedMessage> forward_;
  std::vector<PreparedMessage> backward_;
  std::vector<Send> sends_;  // slots are used again
  std::vector<Bytes> sent_;  // by each stage
  std::vector<Bytes> received_;
  std::vector<std::size_t> changed_;
  std::uint64_t send_count_ = 0;
};

}  // namespace

SimulatedStep simulate(const StepPlan& plan, const Platform& platform, const SimOptions& options) {
  return StepRun(plan, platform, options).run();
}

}  // namespace payoff::sim
