// SPDX-License-Identifier: Apache-2.0
#include "sim/step_programs.hpp"

#include "sim/invariant.hpp"

namespace payoff::sim {

StepPrograms::StepPrograms(const SendNetwork& network, Engine& engine, Links& links)
    : engine_(engine), links_(links), programs_(network) {}

bool StepPrograms::start(std::size_t flight, std::size_t group, const Message& message,
                         std::uint64_t key) {
  Prepared& known = prepared(group, message);
  if (known.program == nullptr) {
    return false;
  }
  if (flights_.size() <= flight) {
    flights_.resize(flight + 1);
  }
  Flight& added = flights_[flight];
  added.prepared = &known;
  added.size = message.size;
  added.progress.emplace(known.program->classes.sends);
  added.key = key;
  added.rate = 1;
  added.progress->begin(ready_);
  start_ready(flight);
  return true;
}

StepPrograms::Prepared& StepPrograms::prepared(std::size_t group, const Message& message) {
  const auto [known, added] = prepared_.try_emplace({group, &message});
  if (added) {
    known->second.program = programs_.of(group, message);
    if (known->second.program != nullptr) {
      known->second.prices = programs_.prices(*known->second.program, message);
    }
  }
  return known->second;
}

void StepPrograms::start_ready(std::size_t flight) {
  for (const ProgramProgress::SendId& id : ready_) {
    start_send(flight, id);
  }
  ready_.clear();
}

void StepPrograms::start_send(std::size_t flight, const ProgramProgress::SendId& id) {
  Flight& whole = flights_[flight];
  const PlacedSend send = whole.progress->send(id);
  const SendPrice& price = whole.prepared->prices[id.step];
  PAYOFF_INVARIANT(price.of_rank.has_value(), "a message of a step has no price");
  const Bytes bytes = whole.size * send.share;
  const Seconds moving = bytes > 0_B ? bytes / (*price.of_rank * send.part) : 0_s;
  const std::size_t slot = free_send();
  InFlight& added = in_flight_[slot];
  added.flight = flight;
  added.id = id;
  added.since = engine_.now();
  added.place = whole.active.size();
  whole.active.push_back(slot);
  links_.prepare_send(price.latency, moving, bytes,
                      whole.prepared->program->classes.way(id.step, id.index), added.message);
  added.activity = links_.start(added.message, whole.key, tag_bit | slot);
  if (whole.rate != 1) {
    engine_.set_rate_bound(added.activity, full_rate * whole.rate);
  }
  ++sends_;
}

std::optional<std::size_t> StepPrograms::arrived(std::size_t send) {
  InFlight& done = in_flight_[send];
  const std::size_t flight = done.flight;
  Flight& whole = flights_[flight];
  (void)links_.end(done.message, done.since);
  in_flight_[whole.active.back()].place = done.place;
  whole.active[done.place] = whole.active.back();
  whole.active.pop_back();
  free_sends_.push_back(send);
  whole.progress->arrived(done.id, ready_);
  start_ready(flight);
  return whole.progress->is_over() ? std::optional(flight) : std::nullopt;
}

void StepPrograms::set_rate(std::size_t flight, double rate) {
  Flight& whole = flights_[flight];
  whole.rate = rate;
  for (const std::size_t send : whole.active) {
    engine_.set_rate_bound(in_flight_[send].activity, full_rate * rate);
  }
}

Bytes StepPrograms::memory_of_send(double links) {
  constexpr double in_engine = 200;  // its record, its member of the solver, its event
  constexpr double use_in_engine = 32;
  return Bytes{sizeof(InFlight) + in_engine +
               links * (sizeof(Use) + sizeof(LinkLoad) + use_in_engine)};
}

std::size_t StepPrograms::free_send() {
  if (free_sends_.empty()) {
    in_flight_.emplace_back();
    return in_flight_.size() - 1;
  }
  const std::size_t slot = free_sends_.back();
  free_sends_.pop_back();
  return slot;
}

}  // namespace payoff::sim
