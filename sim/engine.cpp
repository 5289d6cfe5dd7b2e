// SPDX-License-Identifier: Apache-2.0
#include "sim/engine.hpp"

#include <algorithm>

#include "sim/invariant.hpp"
#include "sim/sort_runs.hpp"

namespace payoff::sim {
namespace {

Rate rate_of(Bandwidth bandwidth) {
  if (bandwidth == no_rate_bound) {
    return unlimited_rate;
  }
  const auto rate = to_rate(bandwidth);
  PAYOFF_INVARIANT(rate.has_value(), "a bandwidth is not positive or off the grid");
  return *rate;
}

}  // namespace

ResourceId Engine::add_resource(const Resource& resource) {
  return bandwidth_.add_resource(rate_of(resource.capacity), resource.sharing);
}

void Engine::set_capacity(ResourceId resource, Bandwidth capacity) {
  bandwidth_.set_capacity(resource, rate_of(capacity));
}

Bandwidth Engine::capacity(ResourceId resource) const {
  return to_bandwidth(bandwidth_.capacity(resource));
}

ActivityId Engine::start(const Activity& activity) {
  const auto work = to_work(activity.size);
  PAYOFF_INVARIANT(work.has_value(), "an activity's size is negative or off the grid");
  PAYOFF_INVARIANT(activity.latency.picoseconds >= 0, "an activity's latency is negative");
  const Slot slot = new_slot();
  Record& record = records_[slot];
  record.left = *work;
  record.key = activity.key;
  record.tag = activity.tag;
  const SimTime begin = now_ + activity.latency;
  if (work->units == 0) {
    record.phase = Phase::alarm;
    schedule(slot, begin);
    return id_of(slot);
  }
  const Rate bound = rate_of(activity.rate_bound);
  PAYOFF_INVARIANT(bound < unlimited_rate || !activity.uses.empty(), "an activity has no bound");
  const bool vacant = bandwidth_.describe(slot, bound, activity.share_ratio, activity.uses);
  if (begin == now_) {
    join(slot);
  } else if (vacant && begin != never) {
    bandwidth_.join(slot);
    begin_alone(slot, begin);
  } else {
    record.phase = Phase::latency;
    schedule(slot, begin);
  }
  return id_of(slot);
}

ActivityId Engine::wake_at(SimTime date, std::uint64_t key, std::uint64_t tag) {
  PAYOFF_INVARIANT(date >= now_, "an alarm is set in the past");
  const Slot slot = new_slot();
  Record& record = records_[slot];
  record.left = {};
  record.key = key;
  record.tag = tag;
  record.phase = Phase::alarm;
  schedule(slot, date);
  return id_of(slot);
}

bool Engine::cancel(ActivityId activity) {
  if (!is_running(activity)) {
    return false;
  }
  if (queue_.contains(activity.slot)) {
    queue_.cancel(activity.slot);
  }
  release(activity.slot);
  return true;
}

void Engine::set_rate_bound(ActivityId activity, Bandwidth bound) {
  PAYOFF_INVARIANT(is_running(activity), "a bound is set on what does not run");
  if (records_[activity.slot].phase != Phase::alarm) {
    bandwidth_.set_bound(activity.slot, rate_of(bound));
  }
}

void Engine::set_share(ActivityId activity, double share_ratio) {
  PAYOFF_INVARIANT(is_running(activity), "a share is set on what does not run");
  if (records_[activity.slot].phase != Phase::alarm) {
    bandwidth_.set_share(activity.slot, share_ratio);
  }
}

bool Engine::is_running(ActivityId activity) const {
  return activity.slot < records_.size() &&
         records_[activity.slot].generation == activity.generation &&
         records_[activity.slot].phase != Phase::free;
}

Bytes Engine::bytes_left(ActivityId activity) const {
  PAYOFF_INVARIANT(is_running(activity), "what does not run has no bytes left");
  const Record& record = records_[activity.slot];
  const bool moves = record.phase == Phase::sharing || record.phase == Phase::alone;
  return to_bytes(moves ? work_left(record, bandwidth_.rate(activity.slot)) : record.left);
}

Bandwidth Engine::rate(ActivityId activity) {
  PAYOFF_INVARIANT(is_running(activity), "what does not run has no rate");
  rates_changed();
  const Record& record = records_[activity.slot];
  const bool moves = record.phase == Phase::sharing || record.phase == Phase::alone;
  return moves && record.since <= now_ ? to_bandwidth(bandwidth_.rate(activity.slot)) : Bandwidth{};
}

bool Engine::advance() {
  completed_.clear();
  while (completed_.empty() && !problem_) {
    // What is due at this very date comes before rates are computed for the time after it.
    if (queue_.empty() || queue_.next_date() > now_) {
      rates_changed();
    }
    if (queue_.empty()) {
      if (running_count_ > 0) {
        problem_ = beyond_clock("");
      }
      break;
    }
    due_.clear();
    now_ = queue_.take(due_);
    apply_due();
  }
  return !completed_.empty();
}

Engine::Slot Engine::new_slot() {
  ++running_count_;
  if (!free_slots_.empty()) {
    const Slot slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
  }
  records_.emplace_back();
  return static_cast<Slot>(records_.size() - 1);
}

void Engine::release(Slot slot) {
  Record& record = records_[slot];
  if (record.phase != Phase::alarm) {
    bandwidth_.remove(slot);
  }
  record.phase = Phase::free;
  ++record.generation;
  free_slots_.push_back(slot);
  --running_count_;
}

// What would happen beyond the clock is not queued: only if nothing else is left is it a Problem.
void Engine::schedule(Slot slot, SimTime date) {
  const bool queued = queue_.contains(slot);
  if (date == never) {
    if (queued) {
      queue_.cancel(slot);
    }
  } else if (queued) {
    queue_.retime(slot, date);
  } else {
    queue_.push(slot, date);
  }
}

// Begins to compete, now.
void Engine::join(Slot slot) {
  if (bandwidth_.join(slot)) {
    begin_alone(slot, now_);
    return;
  }
  records_[slot].phase = Phase::sharing;
  records_[slot].since = now_;
  for (const Slot other : bandwidth_.met()) {
    part_from_newcomer(other);
  }
}

// One that was alone and has not begun yet goes back to waiting for the end of its latency.
void Engine::part_from_newcomer(Slot slot) {
  Record& record = records_[slot];
  if (record.phase == Phase::alone && record.since > now_) {
    bandwidth_.leave(slot);
    record.phase = Phase::latency;
    schedule(slot, record.since);
  }
}

void Engine::begin_alone(Slot slot, SimTime begin) {
  Record& record = records_[slot];
  record.phase = Phase::alone;
  record.since = begin;
  schedule(slot, begin + time_to_do(record.left, bandwidth_.rate(slot)));
}

Work Engine::work_left(const Record& record, Rate rate) const {
  if (record.since >= now_) {
    return record.left;
  }
  const Work done = work_done(rate, now_ - record.since);
  return {record.left.units - std::min(record.left.units, done.units)};
}

// Solves what changed, and moves the completions of those whose rate is another one now.
void Engine::rates_changed() {
  if (!bandwidth_.changed()) {
    return;
  }
  for (const auto& [slot, old_rate] : bandwidth_.solve()) {
    Record& record = records_[slot];
    record.left = work_left(record, old_rate);
    record.since = std::max(record.since, now_);
    schedule(slot, record.since + time_to_do(record.left, bandwidth_.rate(slot)));
  }
}

// Whoever leaves at this date has left before the next one joins, and meets nobody.
void Engine::apply_due() {
  bool joins = false;
  for (const Slot slot : due_) {
    if (records_[slot].phase == Phase::latency) {
      joins = true;
    } else {
      complete(slot);
    }
  }
  if (joins) {
    for (const Slot slot : due_) {
      if (records_[slot].phase == Phase::latency) {
        join(slot);
      }
    }
  }
  sort_runs(completed_, sorting_);
  for (const Completion& done : completed_) {
    hash_.add(now_, done.key);
  }
  completed_count_ += completed_.size();
  if (!queue_.empty()) {
    bandwidth_.prefetch_uses(queue_.next_slot());
    for (const Slot slot : queue_.came_near()) {
      __builtin_prefetch(&records_[slot]);
      bandwidth_.prefetch(slot);
    }
  }
}

void Engine::complete(Slot slot) {
  const Record& record = records_[slot];
  completed_.push_back({record.key, record.tag, id_of(slot)});
  release(slot);
}

}  // namespace payoff::sim
