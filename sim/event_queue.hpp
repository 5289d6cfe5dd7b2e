// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <optional>
#include <vector>

#include "sim/sim_time.hpp"

// The pending events: at most one for each slot, with a date. An indexed 4-ary heap of dates, each
// with the ring of slots that are due then, so that thousands of equal dates cost one heap
// operation. Everything of the earliest date is taken at once; whoever takes it decides the order.
//
//   push, retime, cancel   O(log dates); O(1) for a date pushed lately and not yet taken
//   take                   O(log dates + slots taken)
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

  // One of those that are due after the first of the earliest date; none if there are no others.
  // What take() looks at comes into the cache meanwhile.
  [[nodiscard]] std::optional<Slot> prefetch_second() const;

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
  // Of each slot, in the heap, or one of the words above. Apart, because sinking writes one at
  // every level.
  std::vector<std::uint32_t> positions_;
  std::array<Entry, recent_dates> recent_;  // who led a date when it was last seen
};

}  // namespace payoff::sim
