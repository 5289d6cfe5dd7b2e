// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/activity.hpp"
#include "sim/grid.hpp"

// Weighted max-min fairness with bounds, by progressive filling: a common level rises, a member's
// rate is its share times the level, and it stops at its bound or when a resource that it uses is
// full. On a shared resource the usage-weighted rates add up to the capacity at most; a fat pipe
// only bounds each of its users. (Bertsekas and Gallager, Data Networks, 2nd edition, 6.5.2.)
//
// All arithmetic is on whole numbers (sim/grid.hpp) and resources that fill at the same level fill
// together, so the rates are a function of the system alone: not of the order in which members
// came, nor of how many equal members stand behind one.
//
// A change is noted when it is made and solved later, for the connected parts it touches only.
// A member that meets nobody gets its rate at once.

namespace payoff::sim {

class MaxMin {
 public:
  using Slot = std::uint32_t;  // of a member; the caller numbers them, densely

  ResourceId add_resource(Rate capacity, Sharing sharing);
  void set_capacity(ResourceId resource, Rate capacity);
  [[nodiscard]] Rate capacity(ResourceId resource) const;

  // Makes a member known, who competes from join to leave and may join again until removed. True
  // when nobody has joined any of its shared resources.
  bool describe(Slot slot, Rate bound, double share_ratio, std::span<const Use> uses);
  // True when it meets nobody: then its rate is known. Otherwise the rate comes with solve().
  bool join(Slot slot);
  void leave(Slot slot);
  void remove(Slot slot);  // leaves, if it has joined, and is forgotten
  void set_bound(Slot slot, Rate bound);
  void set_share(Slot slot, double share_ratio);

  // Whether there is anything to solve.
  [[nodiscard]] bool changed() const {
    return !dirty_resources_.empty() || !dirty_members_.empty();
  }
  [[nodiscard]] Rate rate(Slot slot) const { return members_[slot].rate; }
  // Members that were alone on a shared resource until the last join; valid until the next one.
  [[nodiscard]] std::span<const Slot> met() const { return met_; }

  struct Change {
    Slot slot;
    Rate old_rate;
  };
  // A member will be removed soon: what that looks at may come into the cache meanwhile, the member
  // first, then what it uses.
  void prefetch(Slot slot) const {
    if (slot < members_.size()) {
      __builtin_prefetch(&members_[slot]);
    }
  }
  void prefetch_uses(Slot slot) const {
    if (slot < members_.size() && members_[slot].first != none) {
      __builtin_prefetch(&elements_[members_[slot].first]);
      __builtin_prefetch(&resources_[members_[slot].first_resource]);
    }
  }

  // Computes what the changes since the last call touch. Who has a new rate; valid until the next
  // call.
  std::span<const Change> solve();

 private:
  static constexpr std::uint32_t none = 0xffffffff;

  struct Element {  // one use of one resource by one member
    std::uint32_t member;
    std::uint32_t resource;
    std::uint32_t next_in_resource;
    std::uint32_t previous_in_resource;
    std::uint32_t next_of_member;
    std::uint64_t usage;  // in units of 2^-32
  };
  struct Member {
    Rate rate;
    Rate limit;             // with what the fat pipes allow
    Rate bound;             // the caller's
    std::uint64_t share{};  // in units of 2^-24
    std::uint32_t first = none;
    std::uint32_t first_resource{};  // of the first element
    std::uint32_t round{};           // of solve() that last reached it
    bool joined = false;
    bool dirty = false;
    bool fixed = false;  // while filling
  };
  struct State {  // of a resource: what every start and end looks at
    Rate capacity;
    std::uint32_t first = none;
    std::uint32_t users = 0;  // elements that have joined
    Sharing sharing = Sharing::shared;
    bool dirty = false;
  };
  struct Filling {    // of a resource, while its part is solved
    Wide left = 0;    // in rate units of 2^-32
    Wide weight = 0;  // what one unit of level takes of it
    std::uint32_t round = 0;
    std::uint32_t last_described = none;
  };
  struct Level {  // of a resource or a member; the heaps that hold it are lazy
    Wide level;
    std::uint32_t index;
  };

  std::uint32_t new_element();
  void add_use(Slot slot, const Use& use);
  void add_or_merge_use(Slot slot, const Use& use);
  void update_limit(Slot slot);
  void link(std::uint32_t element);
  void unlink(std::uint32_t element);
  void touch(std::uint32_t resource);
  void touch_member(Slot slot);
  [[nodiscard]] Rate lone_rate(Slot slot, std::uint32_t element) const;

  // max_min_solve.cpp
  void collect_from_member(Slot slot);
  void collect_part();
  void fill_part();
  void prepare_resource(std::uint32_t resource);
  void fix(Slot slot, Rate rate);
  bool fix_bounded(Wide level);
  void fix_users_of_full(Wide level);
  [[nodiscard]] Wide lowest_level();
  [[nodiscard]] Wide level_of(std::uint32_t resource) const;
  [[nodiscard]] Rate rate_at(Slot slot, Wide level) const;

  std::vector<State> resources_;
  std::vector<Filling> filling_;
  std::vector<Member> members_;
  std::vector<Element> elements_;
  std::vector<std::uint32_t> free_elements_;
  std::vector<Slot> met_;
  std::vector<std::uint32_t> dirty_resources_;
  std::vector<Slot> dirty_members_;
  std::uint32_t round_ = 0;

  // Of the connected part that is being solved.
  std::vector<std::uint32_t> part_resources_;
  std::vector<Slot> part_members_;
  std::vector<Rate> old_rates_;
  std::vector<Level> resource_levels_;
  std::vector<Level> bound_levels_;
  std::vector<std::uint32_t> full_;
  std::vector<Change> changes_;
};

}  // namespace payoff::sim
