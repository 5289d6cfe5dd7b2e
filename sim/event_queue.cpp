// SPDX-License-Identifier: Apache-2.0
#include "sim/event_queue.hpp"

#include <algorithm>

#include "sim/invariant.hpp"

namespace payoff::sim {

namespace {

// Index of the earliest of up to four. Of four, without branches, which nothing could predict.
template <class Entry>
std::uint32_t least_of(const Entry* entries, std::uint32_t count) {
  if (count == 4) {
    const std::uint32_t left = entries[1].date < entries[0].date ? 1 : 0;
    const std::uint32_t right = entries[3].date < entries[2].date ? 3 : 2;
    return entries[right].date < entries[left].date ? right : left;
  }
  std::uint32_t least = 0;
  for (std::uint32_t i = 1; i < count; ++i) {
    least = entries[i].date < entries[least].date ? i : least;
  }
  return least;
}

}  // namespace

bool EventQueue::contains(Slot slot) const {
  return slot < nodes_.size() && nodes_[slot].bucket != none;
}

SimTime EventQueue::date_of(Slot slot) const { return {buckets_[nodes_[slot].bucket].date}; }

void EventQueue::push(Slot slot, SimTime date) {
  if (slot >= nodes_.size()) {
    nodes_.resize(slot + std::size_t{1});
  }
  PAYOFF_INVARIANT(nodes_[slot].bucket == none, "an event is pushed twice");
  const std::uint32_t guess = recent(date.picoseconds);
  if (is_open(guess, date.picoseconds)) {
    link(slot, guess);
  } else {
    open_bucket(slot, date.picoseconds);
  }
}

void EventQueue::retime(Slot slot, SimTime date) {
  PAYOFF_INVARIANT(contains(slot), "an event is retimed that is not pending");
  const std::uint32_t bucket = nodes_[slot].bucket;
  Bucket& old = buckets_[bucket];
  if (old.date == date.picoseconds) {
    return;
  }
  const std::uint32_t guess = recent(date.picoseconds);
  if (is_open(guess, date.picoseconds) || old.first != old.last) {
    cancel(slot);
    push(slot, date);
    return;
  }
  // The only slot of its bucket: the bucket moves as it is.
  const bool later = date.picoseconds > old.date;
  old.date = date.picoseconds;
  recent(date.picoseconds) = bucket;
  const Entry entry{date.picoseconds, bucket};
  later ? sink(positions_[bucket], entry) : rise(positions_[bucket], entry);
}

void EventQueue::cancel(Slot slot) {
  PAYOFF_INVARIANT(contains(slot), "an event is cancelled that is not pending");
  const std::uint32_t bucket = nodes_[slot].bucket;
  unlink(slot);
  if (buckets_[bucket].first == none) {
    remove_from_heap(positions_[bucket]);
    close_bucket(bucket);
  }
}

SimTime EventQueue::take(std::vector<Slot>& due) {
  PAYOFF_INVARIANT(!empty(), "an event is taken from an empty queue");
  const std::int64_t date = heap_.front().date;
  while (!heap_.empty() && heap_.front().date == date) {
    const std::uint32_t bucket = heap_.front().bucket;
    for (Slot slot = buckets_[bucket].first; slot != none;) {
      due.push_back(slot);
      Node& node = nodes_[slot];
      slot = node.next;
      node = Node{};
    }
    remove_from_heap(0);
    close_bucket(bucket);
  }
  return {date};
}

std::uint32_t& EventQueue::recent(std::int64_t date) {
  const auto mixed = static_cast<std::uint64_t>(date) * 0x9e3779b97f4a7c15ULL;
  return recent_[mixed >> 56U];
}

bool EventQueue::is_open(std::uint32_t bucket, std::int64_t date) const {
  return bucket < buckets_.size() && buckets_[bucket].date == date && positions_[bucket] != none;
}

void EventQueue::link(Slot slot, std::uint32_t bucket) {
  Bucket& home = buckets_[bucket];
  nodes_[slot] = {bucket, none, home.last};
  (home.last == none ? home.first : nodes_[home.last].next) = slot;
  home.last = slot;
}

void EventQueue::unlink(Slot slot) {
  Node& node = nodes_[slot];
  Bucket& home = buckets_[node.bucket];
  (node.previous == none ? home.first : nodes_[node.previous].next) = node.next;
  (node.next == none ? home.last : nodes_[node.next].previous) = node.previous;
  node = Node{};
}

void EventQueue::open_bucket(Slot slot, std::int64_t date) {
  std::uint32_t bucket = 0;
  if (free_buckets_.empty()) {
    bucket = static_cast<std::uint32_t>(buckets_.size());
    buckets_.emplace_back();
    positions_.emplace_back();
  } else {
    bucket = free_buckets_.back();
    free_buckets_.pop_back();
  }
  buckets_[bucket] = {date, slot, slot};
  nodes_[slot] = {bucket, none, none};
  recent(date) = bucket;
  heap_.emplace_back();
  rise(static_cast<std::uint32_t>(heap_.size() - 1), {date, bucket});
}

void EventQueue::close_bucket(std::uint32_t bucket) {
  positions_[bucket] = none;
  free_buckets_.push_back(bucket);
}

void EventQueue::remove_from_heap(std::uint32_t position) {
  const Entry last = heap_.back();
  const std::int64_t removed = heap_[position].date;
  heap_.pop_back();
  if (position == heap_.size()) {
    return;
  }
  last.date < removed ? rise(position, last) : sink(position, last);
}

void EventQueue::rise(std::uint32_t position, Entry entry) {
  while (position > 0) {
    const std::uint32_t parent = (position - 1) / 4;
    if (heap_[parent].date <= entry.date) {
      break;
    }
    place(position, heap_[parent]);
    position = parent;
  }
  place(position, entry);
}

void EventQueue::sink(std::uint32_t position, Entry entry) {
  const auto size = static_cast<std::uint32_t>(heap_.size());
  for (;;) {
    const std::uint32_t first = 4 * position + 1;
    if (first >= size) {
      break;
    }
    const std::uint32_t least = first + least_of(&heap_[first], std::min(size - first, 4U));
    if (entry.date <= heap_[least].date) {
      break;
    }
    place(position, heap_[least]);
    position = least;
  }
  place(position, entry);
}

void EventQueue::place(std::uint32_t position, Entry entry) {
  heap_[position] = entry;
  positions_[entry.bucket] = position;
}

}  // namespace payoff::sim
