// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <span>
#include <vector>

#include "sim/sim_time.hpp"

// The pending events: at most one for each slot, with a date. An indexed 4-ary heap of dates, each
// with the ring of slots that are due then, so that thousands of equal dates cost one heap
// operation. Everything of the earliest date is taken at once; whoever takes it decides the order.
//
//   push, retime, cancel   O(log dates); O(1) for a date pushed lately and not yet taken
//   take                   O(log dates + slots taken)
//
// Only the next few dates are in the heap, which then stays in the nearest cache. Those after it
// wait in buckets of equal width, in no order, and come into the heap a bucket at a time; what lies
// beyond the last bucket is spread over new ones when these are through (Brown, "Calendar queues",
// CACM 31(10), 1988; Tang, Goh, Thng, "Ladder queue", TOMACS 15(3), 2005). Dates that fill one
// bucket only cost what a heap of all costs.
//
// The children of an entry are one aligned cache line, four of 16 bytes; what is missing in the
// last line is filled with entries that come after everything, so that the least of four is found
// without a branch (LaMarca and Ladner, "The influence of caches on the performance of heaps",
// JEA 1, 1996). Nothing is allocated once the peak is reached.

namespace payoff::sim {

class EventQueue {
 public:
  using Slot = std::uint32_t;

  [[nodiscard]] bool empty() const { return end_ == root; }
  [[nodiscard]] SimTime next_date() const { return {heap_[root].date}; }  // not when empty
  [[nodiscard]] bool contains(Slot slot) const {
    return slot < positions_.size() && positions_[slot] != none;
  }
  [[nodiscard]] SimTime date_of(Slot slot) const { return {nodes_[slot].date}; }  // if contained

  // One of those due at the earliest date; not when empty.
  [[nodiscard]] Slot next_slot() const { return static_cast<Slot>(heap_[root].leader); }

  void push(Slot slot, SimTime date);  // of a slot that is not contained
  void retime(Slot slot, SimTime date);
  void cancel(Slot slot);

  // Of the dates that have come near since the last take: of each one of those that are due. What
  // they need may come into the cache before they are.
  [[nodiscard]] std::span<const Slot> came_near() const { return came_near_; }

  // Appends the slots of the earliest date to `due`, and returns that date. Slots with the same
  // history of operations come in the same order.
  SimTime take(std::vector<Slot>& due);

 private:
  static constexpr std::uint32_t none = 0xffffffff;
  static constexpr std::uint32_t follows = 0xfffffffe;  // in a ring that another slot leads
  static constexpr std::size_t recent_dates = 256;
  static constexpr std::size_t cache_line = 64;

  // The first of the ring of slots of a date leads: it is the one in the heap. Two rings may have
  // the same date.
  struct Entry {
    std::int64_t date = std::numeric_limits<std::int64_t>::max();
    std::uint64_t leader = none;  // a slot; as wide as the date, so that both are copied at once
  };
  struct Node {  // of a slot
    std::int64_t date{};
    Slot next{};
    Slot previous{};
    Slot next_in_bucket{};  // of leaders that are not in the heap
    Slot previous_in_bucket{};
  };
  template <class Value>
  struct AlignedAllocator {
    using value_type = Value;
    AlignedAllocator() = default;
    template <class Other>
    explicit AlignedAllocator(const AlignedAllocator<Other>& /*other*/) {}
    Value* allocate(std::size_t count) {
      return static_cast<Value*>(
          ::operator new(count * sizeof(Value), std::align_val_t{cache_line}));
    }
    void deallocate(Value* values, std::size_t /*count*/) {
      ::operator delete(values, std::align_val_t{cache_line});
    }
    bool operator==(const AlignedAllocator& /*other*/) const { return true; }
  };

  // The root comes last in the first line. The children of position p are line p - 2.
  static constexpr std::uint32_t root = 3;
  static constexpr std::uint32_t first_child(std::uint32_t position) { return 4 * position - 8; }
  static constexpr std::uint32_t parent(std::uint32_t position) { return position / 4 + 2; }

  [[nodiscard]] Slot leader_of(std::int64_t date) const;  // none if it is not known
  void note_leader(std::int64_t date, Slot slot);
  void lead(Slot slot, std::int64_t date);
  void follow(Slot slot, Slot leader);

  // Of leaders: into the heap or a bucket by their date, and out.
  void attach(Slot slot);
  void detach(Slot slot);
  void add_to_heap(Slot slot);
  void add_to_bucket(Slot slot);
  void remove_from_bucket(Slot slot);
  void refill();
  void spread();
  void remove_from_heap(std::uint32_t position);
  void rise(std::uint32_t position, Entry entry);
  void sink(std::uint32_t position, Entry entry);
  void place(std::uint32_t position, Entry entry) {
    heap_[position] = entry;
    positions_[entry.leader] = position;
  }

  std::vector<Entry, AlignedAllocator<Entry>> heap_ =
      std::vector<Entry, AlignedAllocator<Entry>>(4);
  std::uint32_t end_ = root;
  std::vector<Node> nodes_;
  // Of each slot, in the heap or the number of its bucket, or one of the words above. Apart,
  // because sinking writes one at every level.
  std::vector<std::uint32_t> positions_;
  std::array<Entry, recent_dates> recent_;  // who led a date when it was last seen

  // Dates before `near_end_` are in the heap. Those of bucket b begin at bucketed_from_ + (b <<
  // shift_); dates from `bucketed_to_` on are in the bucket `far`.
  static constexpr std::uint32_t far = 0;
  std::int64_t near_end_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t bucketed_from_ = 0;
  std::int64_t bucketed_to_ = std::numeric_limits<std::int64_t>::min();
  std::uint32_t shift_ = 0;
  std::uint32_t next_bucket_ = 1;  // the first that is not in the heap
  std::vector<Slot> first_in_bucket_ = std::vector<Slot>(1, none);
  std::vector<Slot> came_near_;
  std::uint32_t far_count_ = 0;
  // No date of `far` is outside; what left it may have been.
  std::int64_t far_least_ = 0;
  std::int64_t far_most_ = 0;
};

}  // namespace payoff::sim
