// SPDX-License-Identifier: Apache-2.0
#include "sim/event_queue.hpp"

#include "sim/invariant.hpp"

namespace payoff::sim {
namespace {

// Selects by masks: nothing could predict the branches that compilers make of conditions.
template <class Word>
Word choose(bool second, Word if_first, Word if_second) {
  return if_first ^ ((if_first ^ if_second) & (Word{0} - static_cast<Word>(second)));
}

// Index of the earliest of four, the first of equals.
template <class Entry>
std::uint32_t least_of(const Entry* entries) {
  const bool second = entries[1].date < entries[0].date;
  const bool fourth = entries[3].date < entries[2].date;
  const bool in_right = choose(fourth, entries[2].date, entries[3].date) <
                        choose(second, entries[0].date, entries[1].date);
  return choose<std::uint32_t>(in_right, second ? 1 : 0, fourth ? 3 : 2);
}

// Of a date among the recent ones, of which there are 2^8.
std::size_t place_of(std::int64_t date) {
  return (static_cast<std::uint64_t>(date) * 0x9e3779b97f4a7c15ULL) >> 56U;
}

}  // namespace

void EventQueue::push(Slot slot, SimTime date) {
  if (slot >= positions_.size()) {
    positions_.resize(slot + std::size_t{1}, none);
    nodes_.resize(slot + std::size_t{1});
  }
  PAYOFF_INVARIANT(positions_[slot] == none, "an event is pushed twice");
  const Slot leader = leader_of(date.picoseconds);
  leader == none ? lead(slot, date.picoseconds) : follow(slot, leader);
}

void EventQueue::retime(Slot slot, SimTime date) {
  PAYOFF_INVARIANT(contains(slot), "an event is retimed that is not pending");
  Node& node = nodes_[slot];
  if (node.date == date.picoseconds) {
    return;
  }
  if (node.next != slot || leader_of(date.picoseconds) != none) {
    cancel(slot);
    push(slot, date);
    return;
  }
  // Alone in its ring: its entry moves.
  const bool later = date.picoseconds > node.date;
  node.date = date.picoseconds;
  note_leader(date.picoseconds, slot);
  const Entry entry{date.picoseconds, slot};
  later ? sink(positions_[slot], entry) : rise(positions_[slot], entry);
}

void EventQueue::cancel(Slot slot) {
  PAYOFF_INVARIANT(contains(slot), "an event is cancelled that is not pending");
  const Node& node = nodes_[slot];
  const std::uint32_t position = positions_[slot];
  positions_[slot] = none;
  if (node.next == slot) {
    remove_from_heap(position);
    return;
  }
  nodes_[node.previous].next = node.next;
  nodes_[node.next].previous = node.previous;
  if (position != follows) {
    place(position, {node.date, node.next});
    note_leader(node.date, node.next);
  }
}

std::optional<EventQueue::Slot> EventQueue::prefetch_second() const {
  constexpr std::uint32_t first = first_child(root);
  if (first >= end_) {
    return std::nullopt;
  }
  const auto slot = static_cast<Slot>(heap_[first + least_of(&heap_[first])].leader);
  __builtin_prefetch(&nodes_[slot]);
  return slot;
}

SimTime EventQueue::take(std::vector<Slot>& due) {
  PAYOFF_INVARIANT(!empty(), "an event is taken from an empty queue");
  const std::int64_t date = heap_[root].date;
  do {
    const Slot leader = next_slot();
    Slot slot = leader;
    do {
      due.push_back(slot);
      positions_[slot] = none;
      slot = nodes_[slot].next;
    } while (slot != leader);
    remove_from_heap(root);
  } while (!empty() && heap_[root].date == date);
  return {date};
}

EventQueue::Slot EventQueue::leader_of(std::int64_t date) const {
  const Entry& seen = recent_[place_of(date)];
  if (seen.date != date || seen.leader == none) {
    return none;
  }
  const auto slot = static_cast<Slot>(seen.leader);
  return nodes_[slot].date == date && positions_[slot] < follows ? slot : none;
}

void EventQueue::note_leader(std::int64_t date, Slot slot) {
  recent_[place_of(date)] = {date, slot};
}

void EventQueue::lead(Slot slot, std::int64_t date) {
  nodes_[slot] = {date, slot, slot};
  note_leader(date, slot);
  if (end_ == heap_.size()) {
    heap_.resize(heap_.size() + 4);
  }
  rise(end_++, {date, slot});
}

void EventQueue::follow(Slot slot, Slot leader) {
  Node& first = nodes_[leader];
  nodes_[slot] = {first.date, leader, first.previous};
  nodes_[first.previous].next = slot;
  first.previous = slot;
  positions_[slot] = follows;
}

// The hole goes down to the bottom, where what was last belongs most of the time.
void EventQueue::remove_from_heap(std::uint32_t position) {
  const Entry last = heap_[--end_];
  heap_[end_] = Entry{};
  if (position == end_) {
    return;
  }
  for (std::uint32_t first = first_child(position); first < end_; first = first_child(position)) {
    const std::uint32_t least = first + least_of(&heap_[first]);
    place(position, heap_[least]);
    position = least;
  }
  rise(position, last);
}

void EventQueue::rise(std::uint32_t position, Entry entry) {
  while (position > root && heap_[parent(position)].date > entry.date) {
    place(position, heap_[parent(position)]);
    position = parent(position);
  }
  place(position, entry);
}

void EventQueue::sink(std::uint32_t position, Entry entry) {
  for (std::uint32_t first = first_child(position); first < end_; first = first_child(position)) {
    const std::uint32_t least = first + least_of(&heap_[first]);
    if (entry.date <= heap_[least].date) {
      break;
    }
    place(position, heap_[least]);
    position = least;
  }
  place(position, entry);
}

}  // namespace payoff::sim
