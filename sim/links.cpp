// SPDX-License-Identifier: Apache-2.0
#include "sim/links.hpp"

#include <algorithm>
#include <cmath>

namespace payoff::sim {
namespace {

// The solver's units of usage, so that equal loads add up as the loads of equal messages would; a
// message that is less than one is not felt by a link.
double on_grid(double usage) {
  constexpr double units = 4294967296.0;  // 2^32
  return std::floor(usage * units) / units;
}

}  // namespace

Links::Links(Engine& engine, const Platform& platform) : engine_(engine), platform_(platform) {
  for (const Link& link : platform.links()) {
    states_.push_back({engine_.add_resource({link.capacity}), {}, {}, {}, {}, {}, {}});
  }
}

PreparedMessage Links::prepare(const Message& message, std::size_t stage,
                               Direction direction) const {
  PreparedMessage prepared;
  prepared.message = &message;
  prepared.alone = to_sim_time(message.alone).value_or(never);
  Route route = platform_.route(message, stage, direction);
  prepared.latency = to_sim_time(message.alone * route.latency_ratio).value_or(never);
  const Bytes size = progress(prepared.alone - prepared.latency);
  if (size <= 0_B) {
    return prepared;
  }
  for (const LinkLoad& load : route.loads) {
    const double usage = on_grid(load.bytes / size);
    if (usage > 0) {
      prepared.uses.push_back({states_[load.link].resource, usage * load.count});
      prepared.loads.push_back({load.link, load.bytes * load.count, 1});
    }
  }
  // Fair in bytes per second of one group: progress counts more where it moves few bytes.
  if (route.of_one > 0_B) {
    prepared.share_ratio = std::clamp(size / route.of_one, least_share, most_share);
  }
  return prepared;
}

void Links::prepare_send(Seconds latency, Seconds moving, Bytes bytes,
                         const std::vector<LinkLoad>& of_one_byte, PreparedMessage& result) const {
  result.latency = to_sim_time(latency).value_or(never);
  result.alone = result.latency + to_sim_time(moving).value_or(never);
  result.uses.clear();
  result.loads.clear();
  const Bytes size = progress(result.alone - result.latency);
  if (size <= 0_B) {
    return;
  }
  result.share_ratio = std::clamp(size / bytes, least_share, most_share);
  for (const LinkLoad& one : of_one_byte) {
    const Bytes load = bytes * one.bytes.si;
    const double usage = on_grid(below_rounding * (load / size));
    if (usage > 0) {
      result.uses.push_back({states_[one.link].resource, usage * one.count});
      result.loads.push_back({one.link, load * one.count, 1});
    }
  }
}

PreparedMessage Links::prepare_on_host(const HostWork& work, SimTime alone, std::size_t stage,
                                       bool by_cores) const {
  PreparedMessage prepared;
  prepared.alone = alone;
  const Route route = platform_.on_host(work, stage, by_cores);
  const Bytes size = progress(alone);
  for (const LinkLoad& load : route.loads) {
    const double usage = on_grid(load.bytes / size);
    if (usage > 0) {
      prepared.uses.push_back({states_[load.link].resource, usage});
      prepared.loads.push_back(load);
    }
  }
  if (route.of_one > 0_B) {
    prepared.share_ratio = std::clamp(size / route.of_one, least_share, most_share);
  }
  return prepared;
}

ActivityId Links::start(const PreparedMessage& message, std::uint64_t key, std::uint64_t tag) {
  for (const LinkLoad& load : message.loads) {
    State& link = states_[load.link];
    note_overload(link);
    link.demand += demand(message, load);
  }
  return engine_.start({.size = progress(message.alone - message.latency),
                        .uses = message.uses,
                        .rate_bound = full_rate,
                        .share_ratio = message.share_ratio,
                        .latency = message.latency,
                        .key = key,
                        .tag = tag});
}

SimTime Links::end(const PreparedMessage& message, SimTime since, SimTime held_back) {
  SimTime last = since;
  double most = 0.0;
  for (const LinkLoad& load : message.loads) {
    State& link = states_[load.link];
    note_overload(link);
    link.demand -= demand(message, load);
    link.bytes += load.bytes;
    if (link.overloaded >= last) {
      most = link.overloaded > last ? link.overload : std::max(most, link.overload);
      last = link.overloaded;
    }
  }
  const SimTime delay = engine_.now() - since - message.alone - held_back;
  if (last == since || delay.picoseconds <= 1) {
    return {};
  }
  constexpr double rounding = 1 - 1e-9;  // of equal demands that were added up in another order
  for (const LinkLoad& load : message.loads) {
    State& link = states_[load.link];
    if (link.overloaded == last && link.overload >= rounding * most) {
      link.max_delay = std::max(link.max_delay, delay);
    }
  }
  return delay;
}

std::vector<LinkUse> Links::report(SimTime step) const {
  std::vector<LinkUse> uses;
  uses.reserve(states_.size());
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const Link& link = platform_.links()[i];
    const Bytes could = link.capacity * to_seconds(step);
    uses.push_back({link.name, link.capacity, states_[i].bytes,
                    could > 0_B ? states_[i].bytes / could : 0.0, to_seconds(states_[i].max_delay),
                    link.key});
  }
  return uses;
}

double Links::demand(const PreparedMessage& message, const LinkLoad& load) const {
  const Seconds moving = to_seconds(message.alone - message.latency);
  return load.bytes / (platform_.links()[load.link].capacity * moving);
}

// Before its load changes: until now it was what it is. What changes twice at one date had the
// value in between for no time.
void Links::note_overload(State& link) const {
  constexpr double full = 1 + 1e-9;
  if (link.changed == engine_.now()) {
    return;
  }
  link.changed = engine_.now();
  if (link.demand > full) {
    link.overloaded = engine_.now();
    link.overload = link.demand;
  }
}

}  // namespace payoff::sim
