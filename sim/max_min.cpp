// SPDX-License-Identifier: Apache-2.0
#include "sim/max_min.hpp"

#include <algorithm>
#include <cmath>

#include "sim/invariant.hpp"

namespace payoff::sim {
namespace {

constexpr std::uint64_t one_usage = std::uint64_t{1} << 32U;
constexpr std::uint64_t one_share = std::uint64_t{1} << 24U;

std::uint64_t to_usage(double ratio) {
  return std::max<std::uint64_t>(
      static_cast<std::uint64_t>(std::round(ratio * static_cast<double>(one_usage))), 1);
}

std::uint64_t to_share(double ratio) {
  return std::max<std::uint64_t>(
      static_cast<std::uint64_t>(std::round(ratio * static_cast<double>(one_share))), 1);
}

// The fastest rate of which `usage` fits into the capacity.
Rate fitting_rate(Rate capacity, std::uint64_t usage) {
  const Wide rate = (static_cast<Wide>(capacity.units) << 32U) / usage;
  return {static_cast<std::uint64_t>(std::clamp<Wide>(rate, 1, unlimited_rate.units))};
}

}  // namespace

ResourceId MaxMin::add_resource(Rate capacity, Sharing sharing) {
  PAYOFF_INVARIANT(capacity.units > 0, "a resource has no capacity");
  State& state = resources_.emplace_back();
  state.capacity = capacity;
  state.sharing = sharing;
  return {static_cast<std::uint32_t>(resources_.size() - 1)};
}

void MaxMin::set_capacity(ResourceId resource, Rate capacity) {
  PAYOFF_INVARIANT(capacity.units > 0, "a resource has no capacity");
  State& state = resources_[resource.index];
  state.capacity = capacity;
  if (state.sharing == Sharing::shared) {
    touch(resource.index);
    return;
  }
  for (std::uint32_t e = state.first; e != none; e = elements_[e].next_in_resource) {
    update_limit(elements_[e].member);
    touch_member(elements_[e].member);
  }
}

Rate MaxMin::capacity(ResourceId resource) const { return resources_[resource.index].capacity; }

void MaxMin::describe(Slot slot, Rate bound, double share_ratio, std::span<const Use> uses) {
  if (slot >= members_.size()) {
    members_.resize(slot + std::size_t{1});
  }
  Member& member = members_[slot];
  PAYOFF_INVARIANT(member.first == none, "a member is described twice");
  member.rate = {};
  member.bound = bound;
  member.share = to_share(share_ratio);
  for (const Use& use : uses) {
    PAYOFF_INVARIANT(use.resource.index < resources_.size(),
                     "an activity uses an unknown resource");
    State& resource = resources_[use.resource.index];
    const std::uint32_t last = resource.last_described;
    // The element that this call made for the same resource, if it did.
    const bool again = last != none && elements_[last].member == slot &&
                       elements_[last].resource == use.resource.index;
    if (again) {
      elements_[last].usage += to_usage(use.usage_ratio);
      continue;
    }
    const std::uint32_t element = new_element();
    elements_[element] = {slot, use.resource.index, none,
                          none, member.first,       to_usage(use.usage_ratio)};
    member.first = element;
    resource.last_described = element;
  }
  update_limit(slot);
}

void MaxMin::forget(Slot slot) {
  Member& member = members_[slot];
  PAYOFF_INVARIANT(!member.joined, "a member is forgotten that still competes");
  for (std::uint32_t e = member.first; e != none;) {
    const std::uint32_t next = elements_[e].next_of_member;
    elements_[e].member = none;
    free_elements_.push_back(e);
    e = next;
  }
  member.first = none;
}

bool MaxMin::vacant(Slot slot) const {
  for (std::uint32_t e = members_[slot].first; e != none; e = elements_[e].next_of_member) {
    const State& resource = resources_[elements_[e].resource];
    if (resource.sharing == Sharing::shared && resource.users > 0) {
      return false;
    }
  }
  return true;
}

bool MaxMin::join(Slot slot) {
  Member& member = members_[slot];
  PAYOFF_INVARIANT(!member.joined, "a member joins twice");
  member.joined = true;
  met_.clear();
  bool alone = true;
  for (std::uint32_t e = member.first; e != none; e = elements_[e].next_of_member) {
    State& resource = resources_[elements_[e].resource];
    if (resource.sharing == Sharing::shared && resource.users > 0) {
      if (resource.users == 1) {
        met_.push_back(elements_[resource.first].member);
      }
      touch(elements_[e].resource);
      alone = false;
    }
    link(e);
  }
  member.rate = alone ? lone_rate(slot) : Rate{};
  return alone;
}

void MaxMin::leave(Slot slot) {
  Member& member = members_[slot];
  PAYOFF_INVARIANT(member.joined, "a member leaves that has not joined");
  member.joined = false;
  for (std::uint32_t e = member.first; e != none; e = elements_[e].next_of_member) {
    unlink(e);
    const State& resource = resources_[elements_[e].resource];
    if (resource.sharing == Sharing::shared && resource.users > 0) {
      touch(elements_[e].resource);
    }
  }
}

void MaxMin::set_bound(Slot slot, Rate bound) {
  members_[slot].bound = bound;
  update_limit(slot);
  touch_member(slot);
}

void MaxMin::set_share(Slot slot, double share_ratio) {
  members_[slot].share = to_share(share_ratio);
  touch_member(slot);
}

std::uint32_t MaxMin::new_element() {
  if (!free_elements_.empty()) {
    const std::uint32_t element = free_elements_.back();
    free_elements_.pop_back();
    return element;
  }
  elements_.emplace_back();
  return static_cast<std::uint32_t>(elements_.size() - 1);
}

void MaxMin::update_limit(Slot slot) {
  Member& member = members_[slot];
  member.limit = member.bound;
  for (std::uint32_t e = member.first; e != none; e = elements_[e].next_of_member) {
    const State& resource = resources_[elements_[e].resource];
    if (resource.sharing == Sharing::fat_pipe) {
      member.limit = std::min(member.limit, fitting_rate(resource.capacity, elements_[e].usage));
    }
  }
}

void MaxMin::link(std::uint32_t element) {
  Element& use = elements_[element];
  State& resource = resources_[use.resource];
  use.previous_in_resource = none;
  use.next_in_resource = resource.first;
  if (resource.first != none) {
    elements_[resource.first].previous_in_resource = element;
  }
  resource.first = element;
  ++resource.users;
}

void MaxMin::unlink(std::uint32_t element) {
  const Element& use = elements_[element];
  State& resource = resources_[use.resource];
  (use.previous_in_resource == none ? resource.first
                                    : elements_[use.previous_in_resource].next_in_resource) =
      use.next_in_resource;
  if (use.next_in_resource != none) {
    elements_[use.next_in_resource].previous_in_resource = use.previous_in_resource;
  }
  --resource.users;
}

void MaxMin::touch(std::uint32_t resource) {
  if (!resources_[resource].dirty) {
    resources_[resource].dirty = true;
    dirty_resources_.push_back(resource);
  }
}

void MaxMin::touch_member(Slot slot) {
  Member& member = members_[slot];
  if (member.joined && !member.dirty) {
    member.dirty = true;
    dirty_members_.push_back(slot);
  }
}

// What solve() would find for it, without its rounding where there is none to do.
Rate MaxMin::lone_rate(Slot slot) const {
  const Member& member = members_[slot];
  Rate rate = member.limit;
  for (std::uint32_t e = member.first; e != none; e = elements_[e].next_of_member) {
    const State& resource = resources_[elements_[e].resource];
    if (resource.sharing != Sharing::shared) {
      continue;
    }
    const std::uint64_t usage = elements_[e].usage;
    if (usage == one_usage && member.share == one_share) {
      rate = std::min(rate, resource.capacity);
    } else {
      const Wide weight = static_cast<Wide>(usage) * member.share;
      rate = std::min(rate,
                      rate_at(slot, (static_cast<Wide>(resource.capacity.units) << 64U) / weight));
    }
  }
  return rate;
}

}  // namespace payoff::sim
