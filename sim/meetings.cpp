// SPDX-License-Identifier: Apache-2.0
#include "sim/meetings.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "sim/invariant.hpp"
#include "sim/step_programs.hpp"
#include "sim/step_stage.hpp"

namespace payoff::sim {

Meetings::Meetings(const Places& places, const Platform& platform, Engine& engine, Links& links,
                   StepPrograms* programs)
    : places_(places),
      platform_(platform),
      engine_(engine),
      links_(links),
      programs_(programs),
      groups_(places.groups.size()),
      circles_(platform.circles().empty() ? 0 : places.places.size()),
      turns_(places.places.size()) {}

bool Meetings::Meeting::goes_before(const Meeting& other) const {
  const auto key = [](const Meeting& meeting) {
    return std::tuple(meeting.complete, meeting.turn, meeting.id.message->kind, meeting.id.index,
                      meeting.id.round);
  };
  return key(*this) < key(other);
}

void Meetings::hand_over(std::size_t place, StreamKind stream, const MessageId& id,
                         const Path& path) {
  const std::size_t group = places_.places[place].group_of(id.message->kind);
  Meeting meeting{group, whole, stream, id, {}, 0, path, {}, 0};
  if (stream != StreamKind::compute) {
    meeting.turn = ++turns_[place];
  }
  const Circles* circles = platform_.circles_of(*id.message);
  if (circles == nullptr) {
    arrive(groups_[group].open, std::move(meeting), places_.groups[group], place);
    return;
  }
  for (const std::size_t waiting : circles->of[place].waited_by) {
    meeting.only = waiting;
    arrive(circles_[waiting].open, meeting, circles->of[waiting].waits_for, place);
  }
}

void Meetings::arrive(std::deque<Meeting>& open, Meeting here,
                      const std::vector<std::size_t>& members, std::size_t place) {
  const auto member =
      static_cast<std::size_t>(std::find(members.begin(), members.end(), place) - members.begin());
  auto meeting = std::find_if(open.begin(), open.end(), [&](const Meeting& m) {
    return m.stream == here.stream && m.id == here.id && !m.here[member];
  });
  if (meeting == open.end()) {
    open.push_back(here);
    meeting = open.end() - 1;
    meeting->here.resize(members.size());
    meeting->missing = members.size();
  }
  meeting->here[member] = true;
  meeting->last = here.last;
  meeting->turn = std::max(meeting->turn, here.turn);
  if (--meeting->missing > 0) {
    return;
  }
  Meeting complete = std::move(*meeting);
  open.erase(meeting);
  if (complete.stream != StreamKind::compute) {
    complete.complete = engine_.now();
    const auto after =
        std::upper_bound(ready_.begin(), ready_.end(), complete,
                         [](const Meeting& a, const Meeting& b) { return a.goes_before(b); });
    ready_.insert(after, std::move(complete));
    may_start_ = true;
  } else {
    start(complete);
  }
}

bool Meetings::streams_free(const Meeting& meeting) const {
  const std::span<const std::size_t> members = places_of(meeting);
  return std::none_of(members.begin(), members.end(),
                      [&](std::size_t place) { return (*stages_)[place].is_busy(meeting.stream); });
}

void Meetings::start_waiting() {
  if (!may_start_) {
    return;
  }
  may_start_ = false;
  for (std::size_t i = 0; i < ready_.size();) {
    if (!streams_free(ready_[i])) {
      ++i;
      continue;
    }
    const Meeting meeting = std::move(ready_[i]);
    ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(i));
    start(meeting);
  }
}

void Meetings::start(const Meeting& meeting) {
  const std::span<const std::size_t> members = places_of(meeting);
  std::vector<StageRun>& stages = *stages_;
  // What led to the start: the last one that came, or the message that was in the way.
  Path path = meeting.last;
  for (const std::size_t place : members) {
    if (path.end() < engine_.now()) {
      path = stages[place].path(meeting.stream);
    }
  }
  const PreparedMessage& message = prepared(meeting);
  if (message.alone.picoseconds == 0) {
    for (const std::size_t place : members) {
      stages[place].message_passed(meeting.stream, meeting.id, path);
      touched_.push_back(place);
    }
    may_start_ = true;
    return;
  }
  const std::size_t slot = free_flight();
  for (const std::size_t place : members) {
    stages[place].message_started(meeting.stream, meeting.id, message, slot, path);
    touched_.push_back(place);
  }
  const std::uint64_t stage = places_.places[members.front()].stage;
  const std::uint64_t key = (stage << 40U) | key_bits(meeting.stream) | (std::uint64_t{1} << 37U) |
                            groups_[meeting.group].count++;
  Flight& flight = flights_[slot];
  flight = {meeting.group, meeting.only, meeting.stream, &message, engine_.now(), {}, false};
  flight.by_sends = programs_ != nullptr && meeting.only == whole &&
                    programs_->start(slot, meeting.group, *meeting.id.message, key);
  if (!flight.by_sends) {
    flight.activity = links_.start(message, key, tag_bit | slot);
  }
}

std::size_t Meetings::free_flight() {
  if (free_flights_.empty()) {
    flights_.emplace_back();
    return flights_.size() - 1;
  }
  const std::size_t slot = free_flights_.back();
  free_flights_.pop_back();
  return slot;
}

void Meetings::ended(std::size_t flight) {
  const Flight done = flights_[flight];
  free_flights_.push_back(flight);
  const std::span<const std::size_t> members = places_of(done);
  SimTime held_back;
  for (const std::size_t place : members) {
    held_back = std::max(held_back, (*stages_)[place].held_back(done.stream));
  }
  const SimTime late = engine_.now() - done.since - done.message->alone;
  SimTime by_memory;
  if (done.by_sends) {  // its links have counted the sends; rounding may make it early
    by_memory = std::max(SimTime{}, std::min(held_back, late));
  } else {
    const SimTime by_links = links_.end(*done.message, done.since, held_back);
    by_memory = held_back.picoseconds > 0 ? late - by_links : SimTime{};
  }
  for (const std::size_t place : members) {
    (*stages_)[place].message_ended(done.stream, by_memory);
    touched_.push_back(place);
  }
  may_start_ = true;
}

void Meetings::rate_changed(std::size_t flight) {
  const Flight& changed = flights_[flight];
  double least = 1;
  for (const std::size_t place : places_of(changed)) {
    least = std::min(least, (*stages_)[place].rate(changed.stream));
  }
  if (changed.by_sends) {
    programs_->set_rate(flight, least);
  } else {
    engine_.set_rate_bound(changed.activity, full_rate * least);
  }
}

const PreparedMessage& Meetings::prepared(const Meeting& meeting) {
  const Message& message = *meeting.id.message;
  const bool for_all = meeting.only == whole;
  std::deque<PreparedMessage>& known =
      (for_all ? groups_[meeting.group] : circles_[meeting.only]).prepared;
  const auto found = std::find_if(known.begin(), known.end(), [&](const PreparedMessage& other) {
    return other.message == &message;
  });
  if (found != known.end()) {
    return *found;
  }
  return known.emplace_back(for_all ? links_.prepare(message, meeting.group, Direction::inside)
                                    : links_.prepare(message, meeting.only, Direction::to_rank));
}

}  // namespace payoff::sim
