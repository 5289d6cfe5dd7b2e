// SPDX-License-Identifier: Apache-2.0
#include "sim/event_queue.hpp"

#include <algorithm>
#include <bit>
#include <utility>

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
  if (node.next != slot || leader_of(date.picoseconds) != none ||
      (node.date < near_end_) != (date.picoseconds < near_end_)) {
    cancel(slot);
    push(slot, date);
    return;
  }
  // Alone in its ring: its entry moves.
  const bool later = date.picoseconds > node.date;
  note_leader(date.picoseconds, slot);
  if (node.date >= near_end_) {
    remove_from_bucket(slot);
    node.date = date.picoseconds;
    add_to_bucket(slot);
    return;
  }
  node.date = date.picoseconds;
  const Entry entry{date.picoseconds, slot};
  later ? sink(positions_[slot], entry) : rise(positions_[slot], entry);
}

void EventQueue::cancel(Slot slot) {
  PAYOFF_INVARIANT(contains(slot), "an event is cancelled that is not pending");
  const Node& node = nodes_[slot];
  const std::uint32_t position = positions_[slot];
  if (node.next == slot) {
    detach(slot);
    positions_[slot] = none;
    return;
  }
  nodes_[node.previous].next = node.next;
  nodes_[node.next].previous = node.previous;
  if (position != follows) {  // the next one leads instead
    note_leader(node.date, node.next);
    if (node.date < near_end_) {
      place(position, {node.date, node.next});
    } else {
      remove_from_bucket(slot);
      add_to_bucket(node.next);
    }
  }
  positions_[slot] = none;
}

SimTime EventQueue::take(std::vector<Slot>& due) {
  PAYOFF_INVARIANT(!empty(), "an event is taken from an empty queue");
  const std::int64_t date = heap_[root].date;
  came_near_.clear();
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
  refill();
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
  Node& node = nodes_[slot];
  node.date = date;
  node.next = slot;
  node.previous = slot;
  note_leader(date, slot);
  attach(slot);
}

void EventQueue::follow(Slot slot, Slot leader) {
  Node& first = nodes_[leader];
  Node& node = nodes_[slot];
  node.date = first.date;
  node.next = leader;
  node.previous = first.previous;
  nodes_[first.previous].next = slot;
  first.previous = slot;
  positions_[slot] = follows;
}

void EventQueue::attach(Slot slot) {
  const std::int64_t date = nodes_[slot].date;
  if (empty()) {  // and so are all buckets
    near_end_ = date + 1;
    bucketed_to_ = near_end_;
    next_bucket_ = static_cast<std::uint32_t>(first_in_bucket_.size());
  }
  date < near_end_ ? add_to_heap(slot) : add_to_bucket(slot);
}

void EventQueue::detach(Slot slot) {
  if (nodes_[slot].date < near_end_) {
    remove_from_heap(positions_[slot]);
    refill();
  } else {
    remove_from_bucket(slot);
  }
}

void EventQueue::add_to_heap(Slot slot) {
  if (end_ == heap_.size()) {
    heap_.resize(heap_.size() + 4);
  }
  rise(end_++, {nodes_[slot].date, slot});
}

void EventQueue::add_to_bucket(Slot slot) {
  Node& node = nodes_[slot];
  std::uint32_t bucket = far;
  if (node.date < bucketed_to_) {
    bucket = 1 + static_cast<std::uint32_t>(
                     static_cast<std::uint64_t>(node.date - bucketed_from_) >> shift_);
  } else {
    far_least_ = far_count_ == 0 ? node.date : std::min(far_least_, node.date);
    far_most_ = far_count_ == 0 ? node.date : std::max(far_most_, node.date);
    ++far_count_;
  }
  Slot& first = first_in_bucket_[bucket];
  node.next_in_bucket = first;
  node.previous_in_bucket = none;
  if (first != none) {
    nodes_[first].previous_in_bucket = slot;
  }
  first = slot;
  positions_[slot] = bucket;
}

void EventQueue::remove_from_bucket(Slot slot) {
  const Node& node = nodes_[slot];
  (node.previous_in_bucket == none ? first_in_bucket_[positions_[slot]]
                                   : nodes_[node.previous_in_bucket].next_in_bucket) =
      node.next_in_bucket;
  if (node.next_in_bucket != none) {
    nodes_[node.next_in_bucket].previous_in_bucket = node.previous_in_bucket;
  }
  if (positions_[slot] == far) {
    --far_count_;
  }
}

// The next bucket comes into an empty heap.
void EventQueue::refill() {
  while (empty()) {
    while (next_bucket_ < first_in_bucket_.size() && first_in_bucket_[next_bucket_] == none) {
      ++next_bucket_;
    }
    if (next_bucket_ == first_in_bucket_.size()) {
      if (far_count_ == 0) {
        return;
      }
      spread();
      continue;
    }
    // Of bucket b, whose number is b + 1.
    const std::uint64_t end = std::uint64_t{next_bucket_} << shift_;
    near_end_ = end < static_cast<std::uint64_t>(bucketed_to_ - bucketed_from_)
                    ? bucketed_from_ + static_cast<std::int64_t>(end)
                    : bucketed_to_;
    Slot slot = std::exchange(first_in_bucket_[next_bucket_++], none);
    while (slot != none) {
      const Slot next = nodes_[slot].next_in_bucket;
      came_near_.push_back(slot);
      add_to_heap(slot);
      slot = next;
    }
  }
}

// What is far over new buckets, as many as there are dates. They reach four times as far as these
// do, so that most of what comes meanwhile finds its bucket at once.
void EventQueue::spread() {
  constexpr std::uint32_t fewest_buckets = 16;
  constexpr std::uint32_t most_buckets = 1U << 16U;
  constexpr std::uint64_t farthest = std::uint64_t{1} << 60U;
  const std::uint32_t buckets = std::clamp(std::bit_ceil(far_count_), fewest_buckets, most_buckets);
  const std::uint64_t range =
      std::min(static_cast<std::uint64_t>(far_most_ - far_least_) + 1, farthest) * 4;
  shift_ = 0;
  while ((range - 1) >> shift_ >= buckets) {
    ++shift_;
  }
  const auto clock_left =
      static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() - far_least_);
  bucketed_from_ = far_least_;
  bucketed_to_ = far_least_ + static_cast<std::int64_t>(std::min(range, clock_left));
  next_bucket_ = 1;
  first_in_bucket_.resize(buckets + std::size_t{1}, none);
  Slot slot = std::exchange(first_in_bucket_[far], none);
  far_count_ = 0;
  while (slot != none) {
    const Slot next = nodes_[slot].next_in_bucket;
    add_to_bucket(slot);
    slot = next;
  }
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
