// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/problem.hpp"
#include "sim/activity.hpp"
#include "sim/event_queue.hpp"
#include "sim/max_min.hpp"
#include "sim/sim_time.hpp"
#include "sim/trace_hash.hpp"

// The discrete-event engine: a clock, activities that share bandwidth, and alarms. The caller
// starts activities and then repeats: advance to the next date at which something completes, and
// react to all that completed then.
//
//   while (engine.advance()) {
//     for (const Completion& done : engine.completed()) { ... engine.start(next) ... }
//   }
//
// All events of one picosecond are applied before rates are computed again, so it does not matter
// in which order the caller starts or cancels things at one date. Completions of one date come in
// the order of their keys, then tags. Wrong input has to be found before, by check(); here it is a
// broken invariant. (Casanova et al., "Versatile, scalable, and accurate simulation of distributed
// applications and platforms", JPDC 74(10), 2014, describe simulation by max-min fluid models.)

namespace payoff::sim {

class Engine {
 public:
  ResourceId add_resource(const Resource& resource);
  void set_capacity(ResourceId resource, Bandwidth capacity);
  [[nodiscard]] Bandwidth capacity(ResourceId resource) const;

  // From now on; at the same date if it has neither size nor latency.
  ActivityId start(const Activity& activity);
  // Completes at that date, which is not in the past, and uses nothing.
  ActivityId wake_at(SimTime date, std::uint64_t key, std::uint64_t tag);
  // Of a running activity; nothing is reported. False, and nothing done, if the id is stale.
  bool cancel(ActivityId activity);
  void set_rate_bound(ActivityId activity, Bandwidth bound);
  void set_share(ActivityId activity, double share_ratio);

  [[nodiscard]] bool is_running(ActivityId activity) const;
  [[nodiscard]] Bytes bytes_left(ActivityId activity) const;
  // Of now, with every change made at this date; zero while it pays its latency.
  [[nodiscard]] Bandwidth rate(ActivityId activity);

  [[nodiscard]] SimTime now() const { return now_; }
  // To the next date with completions. False when nothing is running, or after a Problem.
  bool advance();
  [[nodiscard]] std::span<const Completion> completed() const { return completed_; }
  [[nodiscard]] const std::optional<Problem>& problem() const { return problem_; }

  [[nodiscard]] std::size_t running_count() const { return running_count_; }
  [[nodiscard]] std::uint64_t completed_count() const { return completed_count_; }
  [[nodiscard]] std::uint64_t trace_hash() const { return hash_.value(); }

 private:
  using Slot = std::uint32_t;

  enum class Phase : std::uint8_t {
    free,
    alarm,    // waits for a date
    latency,  // waits for the end of its latency, competes with nobody
    sharing,  // competes for bandwidth
    // Alone when it started: it has its rate from `since` on, which may lie in the future, and its
    // one event is its completion. Whoever meets it before `since` sends it back to `latency`.
    alone,
  };
  struct Record {
    Work left;      // at `since`
    SimTime since;  // when the rate began
    std::uint64_t key{};
    std::uint64_t tag{};
    std::uint32_t generation{};
    Phase phase = Phase::free;
  };

  [[nodiscard]] Slot new_slot();
  [[nodiscard]] ActivityId id_of(Slot slot) const { return {slot, records_[slot].generation}; }
  void release(Slot slot);
  void schedule(Slot slot, SimTime date);
  void join(Slot slot);
  void part_from_newcomer(Slot slot);
  void begin_alone(Slot slot, SimTime begin);
  void rates_changed();
  void apply_due();
  void complete(Slot slot);
  [[nodiscard]] Work work_left(const Record& record, Rate rate) const;

  SimTime now_;
  EventQueue queue_;
  MaxMin bandwidth_;
  std::vector<Record> records_;
  std::vector<Slot> free_slots_;
  std::vector<Slot> due_;
  std::vector<Completion> completed_;
  std::vector<Completion> sorting_;  // scratch
  std::optional<Problem> problem_;
  TraceHash hash_;
  std::uint64_t completed_count_ = 0;
  std::size_t running_count_ = 0;
};

}  // namespace payoff::sim
