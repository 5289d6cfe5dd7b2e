// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/sim_time.hpp"

// The pending events: at most one for each slot, with a date. An indexed 4-ary heap of dates, each
// with the list of slots that are due then, so that thousands of equal dates cost one heap
// operation. Everything of the earliest date is taken at once; whoever takes it decides the order.
//
//   push, retime, cancel   O(log dates); O(1) for a date pushed lately and not yet taken
//   take                   O(log dates + slots taken)
//
// Four children of 16 bytes are one cache line. Nothing is allocated once the peak is reached.

namespace payoff::sim {

class EventQueue {
 public:
  using Slot = std::uint32_t;

  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] SimTime next_date() const { return {heap_.front().date}; }  // not when empty
  [[nodiscard]] bool contains(Slot slot) const;
  [[nodiscard]] SimTime date_of(Slot slot) const;  // of a slot that is contained

  // One of those due at the earliest date; not when empty.
  [[nodiscard]] Slot next_slot() const { return buckets_[heap_.front().bucket].first; }

  void push(Slot slot, SimTime date);  // of a slot that is not contained
  void retime(Slot slot, SimTime date);
  void cancel(Slot slot);

  // Appends the slots of the earliest date to `due`, and returns that date. Slots with the same
  // history of operations come in the same order.
  SimTime take(std::vector<Slot>& due);

 private:
  static constexpr std::uint32_t none = 0xffffffff;
  static constexpr std::size_t recent_dates = 256;

  struct Entry {  // of the heap
    std::int64_t date;
    std::uint32_t bucket;
  };
  struct Bucket {  // the slots due at one date; another bucket may have the same date
    std::int64_t date;
    Slot first;
    Slot last;
  };
  struct Node {  // of a slot
    std::uint32_t bucket = none;
    Slot next = none;
    Slot previous = none;
  };

  [[nodiscard]] std::uint32_t& recent(std::int64_t date);
  void link(Slot slot, std::uint32_t bucket);
  void unlink(Slot slot);  // leaves the bucket in the heap even if it is empty
  void open_bucket(Slot slot, std::int64_t date);
  void close_bucket(std::uint32_t bucket);
  void remove_from_heap(std::uint32_t position);
  void rise(std::uint32_t position, Entry entry);
  void sink(std::uint32_t position, Entry entry);
  [[nodiscard]] bool is_open(std::uint32_t bucket, std::int64_t date) const;
  void place(std::uint32_t position, Entry entry);

  std::vector<Entry> heap_;
  std::vector<Bucket> buckets_;
  // Of each bucket, in the heap; none when it is free. Apart, because sinking writes one at every
  // level.
  std::vector<std::uint32_t> positions_;
  std::vector<std::uint32_t> free_buckets_;
  std::vector<Node> nodes_;
  std::array<std::uint32_t, recent_dates> recent_ = {};  // a guess at the bucket of a date
};

}  // namespace payoff::sim
