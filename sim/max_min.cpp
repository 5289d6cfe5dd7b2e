// SPDX-License-Identifier: Apache-2.0
#include "sim/max_min.hpp"

#include <algorithm>

#include "sim/invariant.hpp"

namespace payoff::sim {
namespace {

constexpr std::uint64_t one_usage = std::uint64_t{1} << 32U;
constexpr std::uint64_t one_share = std::uint64_t{1} << 24U;

// Ratios are positive and small: see activity.hpp's check.
std::uint64_t on_grid(double ratio, std::uint64_t one) {
  return ratio == 1.0 ? one
                      : std::max<std::uint64_t>(nearest_whole(ratio * static_cast<double>(one)), 1);
}

// The fastest rate of which `usage` fits into the capacity.
Rate fitting_rate(Rate capacity, std::uint64_t usage) {
  if (usage == one_usage) {
    return capacity;
  }
  const Wide rate = (static_cast<Wide>(capacity.units) << 32U) / usage;
  return {static_cast<std::uint64_t>(std::clamp<Wide>(rate, 1, unlimited_rate.units))};
}

}  // namespace

ResourceId MaxMin::add_resource(Rate capacity, Sharing sharing) {
  PAYOFF_INVARIANT(capacity.units > 0, "a resource has no capacity");
  State& state = resources_.emplace_back();
  state.capacity = capacity;
  state.sharing = sharing;
  filling_.emplace_back();
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

bool MaxMin::describe(Slot slot, Rate bound, double share_ratio, std::span<const Use> uses) {
  if (slot >= members_.size()) {
    members_.resize(slot + std::size_t{1});
  }
  Member& member = members_[slot];
  PAYOFF_INVARIANT(member.first == none && !member.joined, "a member is described twice");
  member.rate = {};
  member.limit = bound;
  member.bound = bound;
  member.share = on_grid(share_ratio, one_share);
  bool vacant = true;
  for (const Use& use : uses) {
    PAYOFF_INVARIANT(use.resource.index < resources_.size(),
                     "an activity uses an unknown resource");
    const State& resource = resources_[use.resource.index];
    uses.size() == 1 ? add_use(slot, use) : add_or_merge_use(slot, use);
    if (resource.sharing == Sharing::shared) {
      vacant = vacant && resource.users == 0;
    } else {
      update_limit(slot);
    }
  }
  return vacant;
}

void MaxMin::add_use(Slot slot, const Use& use) {
  Member& member = members_[slot];
  const std::uint32_t element = new_element();
  elements_[element] = {slot, use.resource.index, none,
                        none, member.first,       on_grid(use.usage_ratio, one_usage)};
  member.first = element;
  member.first_resource = use.resource.index;
}

// The same resource once more is one use of the sum.
void MaxMin::add_or_merge_use(Slot slot, const Use& use) {
  std::uint32_t& last = filling_[use.resource.index].last_described;
  if (last != none && elements_[last].member == slot &&
      elements_[last].resource == use.resource.index) {
    elements_[last].usage += on_grid(use.usage_ratio, one_usage);
    return;
  }
  add_use(slot, use);
  last = members_[slot].first;
}

bool MaxMin::join(Slot slot) {
  Member& member = members_[slot];
  PAYOFF_INVARIANT(!member.joined, "a member joins twice");
  member.joined = true;
  met_.clear();
  bool alone = true;
  Rate rate = member.limit;
  for (std::uint32_t e = member.first; e != none; e = elements_[e].next_of_member) {
    const State& resource = resources_[elements_[e].resource];
    if (resource.sharing == Sharing::shared) {
      if (resource.users > 0) {
        if (resource.users == 1) {
          met_.push_back(elements_[resource.first].member);
        }
        touch(elements_[e].resource);
        alone = false;
      } else if (alone) {
        rate = std::min(rate, lone_rate(slot, e));
      }
    }
    link(e);
  }
  member.rate = alone ? rate : Rate{};
  return alone;
}

void MaxMin::leave(Slot slot) {
  Member& member = members_[slot];
  PAYOFF_INVARIANT(member.joined, "a member leaves that has not joined");
  member.joined = false;
  for (std::uint32_t e = member.first; e != none; e = elements_[e].next_of_member) {
    unlink(e);
  }
}

void MaxMin::remove(Slot slot) {
  Member& member = members_[slot];
  for (std::uint32_t e = member.first; e != none; e = elements_[e].next_of_member) {
    if (member.joined) {
      unlink(e);
    }
    elements_[e].member = none;
    free_elements_.push_back(e);
  }
  member.joined = false;
  member.first = none;
}

void MaxMin::set_bound(Slot slot, Rate bound) {
  members_[slot].bound = bound;
  update_limit(slot);
  touch_member(slot);
}

void MaxMin::set_share(Slot slot, double share_ratio) {
  members_[slot].share = on_grid(share_ratio, one_share);
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
  if (resource.users > 0 && resource.sharing == Sharing::shared) {
    touch(use.resource);
  }
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

// What solve() would find for it on this resource.
Rate MaxMin::lone_rate(Slot slot, std::uint32_t element) const {
  const Rate capacity = resources_[elements_[element].resource].capacity;
  const std::uint64_t usage = elements_[element].usage;
  const std::uint64_t share = members_[slot].share;
  if (usage == one_usage && share == one_share) {
    return capacity;  // divides evenly
  }
  return rate_at(slot,
                 (static_cast<Wide>(capacity.units) << 64U) / (static_cast<Wide>(usage) * share));
}

}  // namespace payoff::sim
