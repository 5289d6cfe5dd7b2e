// SPDX-License-Identifier: Apache-2.0
#include "sim/step.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "sim/beyond_clock.hpp"
#include "sim/engine.hpp"
#include "sim/invariant.hpp"
#include "sim/last_place.hpp"
#include "sim/meetings.hpp"
#include "sim/place.hpp"
#include "sim/step_end.hpp"
#include "sim/step_programs.hpp"
#include "sim/step_sends.hpp"
#include "sim/step_stage.hpp"
#include "sim/trace.hpp"

namespace payoff::sim {
namespace {

constexpr std::uint64_t send_tag = std::uint64_t{1} << 63U;

class StepRun {
 public:
  StepRun(const StepPlan& plan, const Platform& platform, const SimOptions& options)
      : plan_(plan),
        options_(options),
        places_(places_of(plan, platform)),
        links_(engine_, platform),
        meetings_(places_, platform, engine_, links_, add_programs(platform)) {
    for (std::size_t p = 0; p < places_.places.size(); ++p) {
      stages_.emplace_back(plan, places_, p, engine_, links_, meetings_, options.trace);
      const StagePlan& stage = plan.stages[places_.places[p].stage];
      forward_.push_back(links_.prepare(stage.send_forward, p, Direction::forward));
      backward_.push_back(links_.prepare(stage.send_backward, p, Direction::backward));
      changed_.push_back(p);
    }
    sent_.resize(stages_.size());
    received_.resize(stages_.size());
    sends_of_.resize(stages_.size());
    outboxes_.resize(stages_.size());
    meetings_.attend(stages_);
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
    SimulatedStep step = result(stopped);
    if (!stopped && !step.problem) {
      const StepEnd end(plan_.overheads, engine_);
      end.add_to(step);
      end.write(options_.trace, places_.several_a_stage(plan_.stages.size()));
    }
    return step;
  }

 private:
  StepPrograms* add_programs(const Platform& platform) {
    return platform.send_network() == nullptr
               ? nullptr
               : &programs_.emplace(*platform.send_network(), engine_, links_);
  }

  void handle(const Completion& done) {
    if ((done.tag & send_tag) != 0) {
      deliver(done.tag ^ send_tag);
      return;
    }
    if ((done.tag & Meetings::tag_bit) != 0) {
      meetings_.ended(static_cast<std::size_t>(done.tag ^ Meetings::tag_bit));
      return;
    }
    if ((done.tag & StepPrograms::tag_bit) != 0) {
      const auto send = static_cast<std::size_t>(done.tag ^ StepPrograms::tag_bit);
      if (const auto flight = programs_->arrived(send)) {
        meetings_.ended(*flight);
      }
      return;
    }
    const auto place = static_cast<std::size_t>(done.tag >> 3U);
    stages_[place].task_ended(static_cast<StreamKind>(done.tag & 7U));
    changed_.push_back(place);
  }

  // Until nothing more happens at this date. A stage may start, end and send in no time.
  void advance_stages() {
    take_touched();
    while (!changed_.empty()) {
      const std::size_t place = changed_.back();
      changed_.pop_back();
      stages_[place].advance();
      std::vector<StageRun::Ended> ended;
      ended.swap(stages_[place].ended_operations());
      for (const StageRun::Ended& operation : ended) {
        pass_on(place, operation);
      }
      if (changed_.empty()) {
        meetings_.start_waiting();
      }
      take_touched();
    }
  }

  void take_touched() {
    std::vector<std::size_t>& touched = meetings_.touched();
    changed_.insert(changed_.end(), touched.begin(), touched.end());
    touched.clear();
  }

  // To the stage that needs it: the neighbour, around the ring to the next chunk, or the same one.
  void pass_on(std::size_t from, const StageRun::Ended& ended) {
    const Place& place = places_.places[from];
    const Consumer consumer =
        consumer_of(ended.operation, static_cast<int>(place.stage), plan_.layout.stages(),
                    plan_.layout.virtual_stages, plan_.layout.schedule);
    switch (consumer.toward) {
      case Toward::nobody:
        return;
      case Toward::same_stage:
        stages_[from].input_sent(consumer.operation);
        stages_[from].input_arrived(consumer.operation, ended.path);
        changed_.push_back(from);
        return;
      case Toward::next_stage:
        send({from, place.next, consumer.operation, &forward_[from], ended.path, {}},
             Direction::forward);
        return;
      case Toward::previous_stage:
        send({from, place.previous, consumer.operation, &backward_[from], ended.path, {}},
             Direction::backward);
        return;
    }
  }

  void send(const StageSend& send, Direction toward) {
    stages_[send.to].input_sent(send.operation);
    changed_.push_back(send.to);
    sent_[send.from] += send.message->message->size;
    received_[send.to] += send.message->message->size;
    if (send.message->alone.picoseconds == 0) {
      stages_[send.to].input_arrived(send.operation, send.path);
      return;
    }
    Outbox& outbox = outbox_of(send.from, toward);
    outbox.push_back(send);
    if (outbox.size() == 1) {
      start_first(outbox, toward);
    }
  }

  void start_first(Outbox& outbox, Direction toward) {
    StageSend& send = outbox.front();
    send.since = engine_.now();
    stages_[send.from].send_begins();
    changed_.push_back(send.from);
    const std::uint64_t stage = places_.places[send.from].stage;
    const std::uint64_t key = (stage << 40U) | (std::uint64_t{3} << 38U) | sends_of_[send.from]++;
    links_.start(*send.message, key, send_tag | (send.from << 1U) | bit_of(toward));
  }

  // The first of an outbox has arrived. The next one has waited for it if it was there.
  void deliver(std::uint64_t outbox_number) {
    const auto toward = (outbox_number & 1U) != 0 ? Direction::backward : Direction::forward;
    Outbox& outbox = outbox_of(static_cast<std::size_t>(outbox_number >> 1U), toward);
    StageSend send = outbox.front();
    outbox.pop_front();
    const SimTime alone = send.message->alone;
    send.path.add(Cause::pp_message, alone);
    send.path.count_activity();
    send.path.add(Cause::link_contention, engine_.now() - send.since - alone);
    links_.end(*send.message, send.since);
    if (options_.trace != nullptr) {
      options_.trace->write(span_of(send, toward, places_, plan_.stages.size(), engine_.now()));
    }
    stages_[send.from].send_ends();
    changed_.push_back(send.from);
    stages_[send.to].input_arrived(send.operation, send.path);
    changed_.push_back(send.to);
    if (!outbox.empty()) {
      outbox.front().path = send.path;
      start_first(outbox, toward);
    }
  }

  static std::uint64_t bit_of(Direction toward) { return toward == Direction::backward ? 1 : 0; }
  [[nodiscard]] Outbox& outbox_of(std::size_t place, Direction toward) {
    return outboxes_[place][static_cast<std::size_t>(bit_of(toward))];
  }

  [[nodiscard]] SimulatedStep result(bool stopped) const {
    SimulatedStep step;
    step.events = engine_.completed_count();
    step.sends = programs_ ? programs_->sends() : 0;
    step.trace_hash = engine_.trace_hash();
    step.interrupted = stopped;
    step.problem = engine_.problem();
    step.max_memory_delay.resize(plan_.stages.size());
    for (std::size_t p = 0; p < stages_.size(); ++p) {
      Seconds& delay = step.max_memory_delay[places_.places[p].stage];
      delay = std::max(delay, to_seconds(stages_[p].max_memory_delay()));
      PAYOFF_INVARIANT(stopped || step.problem || stages_[p].is_over(), "a stage waits for ever");
    }
    const std::size_t last = last_place();
    step.last_stage = places_.places[last].stage;
    for (const StageRun& place : stages_) {
      step.place_ends.push_back(to_seconds(place.path().end()));
    }
    take_mean(step);
    describe(step, stages_[last]);
    name_cause(step.problem, plan_, step.links);
    step.pp.bytes = received_[last];
    step.prediction.pp_bytes = sent_[last];
    return step;
  }

  void take_mean(SimulatedStep& step) const {
    double ranks = 0;
    for (std::size_t p = 0; p < step.place_ends.size(); ++p) {
      const auto alike = static_cast<double>(places_.places[p].ranks);
      step.mean_end += alike * step.place_ends[p];
      ranks += alike;
    }
    step.mean_end = step.mean_end / ranks;
    step.first_end = *std::min_element(step.place_ends.begin(), step.place_ends.end());
  }

  [[nodiscard]] std::size_t last_place() const {
    const auto key = [&](std::size_t p) {
      return key_of(stages_[p], places_.places[p].stage, sent_[p], received_[p]);
    };
    std::size_t last = 0;
    for (std::size_t p = 1; p < stages_.size(); ++p) {
      const SimTime end = stages_[p].path().end();
      const SimTime latest = stages_[last].path().end();
      if (end > latest || (end == latest && key(p) < key(last))) {
        last = p;
      }
    }
    return last;
  }

  void describe(SimulatedStep& step, const StageRun& last) const {
    const StageAccount& account = last.account();
    const Waterfall& w = account.waterfall();
    step.prediction.step = to_seconds(last.path().end());
    step.prediction.waterfall = w;
    step.dp = {account.dp_busy(), w.exposed_dp, last.dp_bytes(), account.dp_waiting()};
    step.tp = {w.exposed_tp - account.tp_waiting() + account.tp_hidden(), w.exposed_tp,
               last.tp_bytes(), account.tp_waiting()};
    step.cp = {w.exposed_cp - account.cp_waiting() + account.cp_hidden(), w.exposed_cp,
               last.cp_bytes(), account.cp_waiting()};
    step.ep = {w.exposed_ep - account.ep_waiting() + account.ep_hidden(), w.exposed_ep,
               last.ep_bytes(), account.ep_waiting()};
    step.pp = {account.pp_busy(), w.exposed_pp, {}};
    step.prediction.dp_communication = step.dp.busy;
    step.prediction.hidden_dp = step.dp.hidden();
    step.prediction.dp_bytes = step.dp.bytes;
    step.prediction.tp_bytes = step.tp.bytes;
    step.prediction.cp_bytes = step.cp.bytes;
    step.prediction.ep_bytes = step.ep.bytes;
    for (std::size_t c = 0; c < cause_count; ++c) {
      step.critical_path[c] = to_seconds(last.path().share(static_cast<Cause>(c)));
    }
    step.path_activities = last.path().activities();
    step.links = links_.report(last.path().end());
  }

  const StepPlan& plan_;
  const SimOptions& options_;
  Places places_;
  Engine engine_;
  Links links_;
  std::optional<StepPrograms> programs_;
  Meetings meetings_;
  std::vector<StageRun> stages_;
  std::vector<PreparedMessage> forward_;
  std::vector<PreparedMessage> backward_;
  std::vector<std::array<Outbox, 2>> outboxes_;  // of a place: to the next, to the previous
  std::vector<Bytes> sent_;                      // by each place
  std::vector<Bytes> received_;
  std::vector<std::size_t> changed_;
  std::vector<std::uint64_t> sends_of_;
};

}  // namespace

SimulatedStep simulate(const StepPlan& plan, const Platform& platform, const SimOptions& options) {
  return StepRun(plan, platform, options).run();
}

}  // namespace payoff::sim
