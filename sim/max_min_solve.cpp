// SPDX-License-Identifier: Apache-2.0

// The solving half of MaxMin: finds the connected part that changed and fills it.
//
// Units: usage is in 2^-32, a share in 2^-24, what is left of a resource in rate units of 2^-32.
// A level is in rate units of 2^-8 for a share of one, so that rounding it down costs a member less
// than 2^-8 rate units for each unit of share. Everything fits into 128 bits: a capacity has 63,
// the weight of a resource (usage times share, added up) 88 and as many as there are users.

#include <algorithm>

#include "sim/invariant.hpp"
#include "sim/max_min.hpp"

namespace payoff::sim {
namespace {

constexpr Wide no_level = ~Wide{0};

// For the standard heap functions, which keep the greatest in front.
constexpr auto higher = [](const auto& a, const auto& b) { return a.level > b.level; };

}  // namespace

std::span<const MaxMin::Change> MaxMin::solve() {
  changes_.clear();
  ++round_;
  for (const std::uint32_t resource : dirty_resources_) {
    State& state = resources_[resource];
    state.dirty = false;
    if (filling_[resource].round != round_ && state.users > 0) {
      filling_[resource].round = round_;
      part_resources_.push_back(resource);
      collect_part();
      fill_part();
    }
  }
  dirty_resources_.clear();
  for (const Slot slot : dirty_members_) {
    members_[slot].dirty = false;
    if (members_[slot].joined && members_[slot].round != round_) {
      collect_from_member(slot);
      collect_part();
      fill_part();
    }
  }
  dirty_members_.clear();
  return changes_;
}

void MaxMin::collect_from_member(Slot slot) {
  members_[slot].round = round_;
  part_members_.push_back(slot);
  for (std::uint32_t e = members_[slot].first; e != none; e = elements_[e].next_of_member) {
    const std::uint32_t resource = elements_[e].resource;
    Filling& filling = filling_[resource];
    if (filling.round != round_ && resources_[resource].sharing == Sharing::shared) {
      filling.round = round_;
      part_resources_.push_back(resource);
    }
  }
}

void MaxMin::collect_part() {
  for (std::size_t i = 0; i < part_resources_.size(); ++i) {
    std::uint32_t e = resources_[part_resources_[i]].first;
    for (; e != none; e = elements_[e].next_in_resource) {
      if (members_[elements_[e].member].round != round_) {
        collect_from_member(elements_[e].member);
      }
    }
  }
}

void MaxMin::fill_part() {
  for (const Slot slot : part_members_) {
    Member& member = members_[slot];
    member.fixed = false;
    old_rates_.push_back(member.rate);
    if (member.limit < unlimited_rate) {
      // The lowest level at which the bound is reached.
      const Wide level =
          ((static_cast<Wide>(member.limit.units) << 32U) + member.share - 1) / member.share;
      bound_levels_.push_back({level, slot});
    }
  }
  std::make_heap(bound_levels_.begin(), bound_levels_.end(), higher);
  for (const std::uint32_t resource : part_resources_) {
    prepare_resource(resource);
  }
  std::make_heap(resource_levels_.begin(), resource_levels_.end(), higher);

  for (;;) {
    const Wide level = lowest_level();
    if (fix_bounded(level)) {
      continue;  // what they leave over raises the level
    }
    if (level == no_level) {
      break;
    }
    fix_users_of_full(level);
  }
  for (std::size_t i = 0; i < part_members_.size(); ++i) {
    const Slot slot = part_members_[i];
    if (!members_[slot].fixed) {
      members_[slot].rate = unlimited_rate;
    }
    if (members_[slot].rate != old_rates_[i]) {
      changes_.push_back({slot, old_rates_[i]});
    }
  }
  part_resources_.clear();
  part_members_.clear();
  old_rates_.clear();
  bound_levels_.clear();
  resource_levels_.clear();
}

void MaxMin::prepare_resource(std::uint32_t resource) {
  const State& state = resources_[resource];
  Filling& filling = filling_[resource];
  filling.left = static_cast<Wide>(state.capacity.units) << 32U;
  filling.weight = 0;
  for (std::uint32_t e = state.first; e != none; e = elements_[e].next_in_resource) {
    filling.weight += static_cast<Wide>(elements_[e].usage) * members_[elements_[e].member].share;
  }
  if (filling.weight > 0) {
    resource_levels_.push_back({level_of(resource), resource});
  }
}

Wide MaxMin::level_of(std::uint32_t resource) const {
  return (filling_[resource].left << 32U) / filling_[resource].weight;
}

Rate MaxMin::rate_at(Slot slot, Wide level) const {
  const Wide units = (level * members_[slot].share) >> 32U;
  // Less than a unit would never end: the grid's own floor.
  return {static_cast<std::uint64_t>(std::clamp<Wide>(units, 1, unlimited_rate.units))};
}

// The level at which the next resource fills. Levels of resources only rise while others are
// fixed, so an entry of the heap that is out of date is too low, and goes back with its level of
// now.
Wide MaxMin::lowest_level() {
  while (!resource_levels_.empty()) {
    const Level lowest = resource_levels_.front();
    const bool idle = filling_[lowest.index].weight == 0;
    if (!idle && level_of(lowest.index) == lowest.level) {
      return lowest.level;
    }
    std::pop_heap(resource_levels_.begin(), resource_levels_.end(), higher);
    resource_levels_.pop_back();
    if (!idle) {
      resource_levels_.push_back({level_of(lowest.index), lowest.index});
      std::push_heap(resource_levels_.begin(), resource_levels_.end(), higher);
    }
  }
  return no_level;
}

// Members whose bound is at most this level get it. Whether there were any.
bool MaxMin::fix_bounded(Wide level) {
  bool any = false;
  while (!bound_levels_.empty() && bound_levels_.front().level <= level) {
    const Slot slot = bound_levels_.front().index;
    std::pop_heap(bound_levels_.begin(), bound_levels_.end(), higher);
    bound_levels_.pop_back();
    if (!members_[slot].fixed) {
      fix(slot, members_[slot].limit);
      any = true;
    }
  }
  return any;
}

// All resources that fill at this level, found before any of their users is fixed.
void MaxMin::fix_users_of_full(Wide level) {
  full_.clear();
  while (lowest_level() == level) {
    full_.push_back(resource_levels_.front().index);
    std::pop_heap(resource_levels_.begin(), resource_levels_.end(), higher);
    resource_levels_.pop_back();
  }
  for (const std::uint32_t resource : full_) {
    for (std::uint32_t e = resources_[resource].first; e != none;
         e = elements_[e].next_in_resource) {
      const Slot slot = elements_[e].member;
      if (!members_[slot].fixed) {
        fix(slot, rate_at(slot, level));
      }
    }
  }
}

void MaxMin::fix(Slot slot, Rate rate) {
  Member& member = members_[slot];
  member.fixed = true;
  member.rate = rate;
  for (std::uint32_t e = member.first; e != none; e = elements_[e].next_of_member) {
    if (resources_[elements_[e].resource].sharing == Sharing::shared) {
      Filling& filling = filling_[elements_[e].resource];
      const Wide taken = static_cast<Wide>(elements_[e].usage) * rate.units;
      filling.left -= std::min(filling.left, taken);
      filling.weight -= static_cast<Wide>(elements_[e].usage) * member.share;
    }
  }
}

}  // namespace payoff::sim
