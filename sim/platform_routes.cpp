// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "model/collective.hpp"
#include "model/group_paths.hpp"
#include "model/groups.hpp"
#include "model/rank_order.hpp"
#include "sim/activity.hpp"
#include "sim/platform.hpp"

namespace payoff::sim {
namespace {

struct Spread {
  Bytes node;  // out of one node, of one group
  Bytes gpu;   // of one rank to others of its domain
  Bytes slot;  // through the PCIe slot of a rank that is next to a NIC
};

// A ring enters and leaves every domain once with all that a rank sends, and passes the ranks
// inside one after the other; an all-to-all sends each rank its part. Where one bus leads to the
// other ranks and to the NICs it carries all that a rank sends, once.
Spread spread(const Message& message, const Group& group, const GroupPaths& paths, bool one_bus) {
  const Bytes wire = wire_bytes_per_rank(message.collective, message.size, group.ranks);
  const int nodes = (paths.local + group.ranks_per_node - 1) / group.ranks_per_node;
  const double local = paths.local;
  if (paths.domains == 1) {
    return {{}, wire, {}};
  }
  Spread spread{wire / nodes, wire * ((local - 1) / local), wire / paths.rails};
  if (message.collective == Collective::all_to_all) {
    const Bytes pair = wire / (group.ranks - 1);
    spread = {pair * (local * (group.ranks - local) / nodes), pair * (local - 1),
              pair * (group.ranks - local)};
  }
  if (one_bus) {
    spread.gpu = wire;
    spread.slot = {};
  }
  return spread;
}

// Of the groups that share a node's NICs, the part that one stage has there: where stages share
// nodes, groups that activations pass count those of all of them (model/groups).
double part_of_stage(MessageKind kind, const ParallelLayout& layout, int gpus_per_node) {
  const bool of_gradients =
      group_kind(kind) == GroupKind::gradients || group_kind(kind) == GroupKind::replicas ||
      group_kind(kind) == GroupKind::expert_gradients ||
      group_kind(kind) == GroupKind::expert_replicas || group_kind(kind) == GroupKind::ends;
  return of_gradients || has_usual_order(layout)
             ? 1.0
             : static_cast<double>(stage_ranks_in_node(layout, gpus_per_node)) / gpus_per_node;
}

}  // namespace

Route Platform::route(const Message& message, std::size_t index, Direction direction) const {
  if (message.alone <= 0_s || message.size <= 0_B) {
    return {};
  }
  if (direction == Direction::to_rank) {
    return to_rank(message, index);
  }
  if (!system_.channels.empty()) {
    const std::uint32_t channel =
        direction == Direction::inside
            ? static_cast<std::uint32_t>(index)
            : (direction == Direction::forward ? system_.forward : system_.backward)[index];
    return channel == Incidence::none ? Route{} : of_channel(message, channel);
  }
  if (stages_.empty()) {
    return {};
  }
  if (message.kind == MessageKind::tied_gradients) {
    return between_ends(message);
  }
  return direction == Direction::inside ? collective(message, index)
                                        : send(message, index, direction);
}

// What the algorithm sends less than a ring, it sends less everywhere.
Route Platform::of_channel(const Message& message, std::uint32_t channel) const {
  const FoldedSystem::Channel& known = system_.channels[channel];
  const Incidence::Nominal& nominal = nominal_[static_cast<std::size_t>(known.role)][known.stage];
  const bool pairs = message.collective == Collective::all_to_all;
  Route route;
  Bytes wire = message.size;
  if (Incidence::is_send(known.role)) {
    const bool forward = known.role == Incidence::Role::forward;
    route.latency_ratio =
        latency_ratio(message, known.stage, forward ? Direction::forward : Direction::backward);
  } else {
    const Group group = group_of(message, known.stage, Direction::inside);
    wire = wire_bytes_per_rank(message.collective, message.size, group.ranks);
  }
  route.of_one = wire;
  const Seconds moving = message.alone * (1.0 - route.latency_ratio);
  if (moving <= 0_s) {
    return route;
  }
  const auto sent = [&](double seconds_per_byte) {
    const Seconds needed = Seconds{wire.si * seconds_per_byte};
    return needed > moving * below_rounding ? wire * (moving / needed * below_rounding) : wire;
  };
  const Bytes inside = sent(pairs ? nominal.inside_pairs : nominal.inside);
  const Bytes outside = sent(pairs ? nominal.outside_pairs : nominal.outside);
  for (const FoldedSystem::ClassLoad& load : pairs ? known.pairs : known.ring) {
    const Bytes bytes = (system_.links[load.link].inside ? inside : outside) * load.units;
    route.loads.push_back({load.link, bytes, load.count});
  }
  return route;
}

const Circles* Platform::circles_of(const Message& message) const {
  if (message.graph == 0 || circles_.empty()) {
    return nullptr;
  }
  return &(message.in_node ? circles_.back() : circles_[message.graph - 1]);
}

// A message over a graph is counted as an exchange with all: of the bytes that the busiest rank
// sends each neighbour gets its part. What the law is faster than the line, it sends less.
Route Platform::to_rank(const Message& message, std::size_t place) const {
  const Circles& circles = *circles_of(message);
  const Circle& own = circles.of[place];
  const auto local = static_cast<double>(circles_.back().of[place].waits_for.size());
  const Group all = payoff::group_of(message.kind, layout_, cluster_.gpus_per_node);
  const double nodes = all.ranks / local;
  const Bytes bytes =
      message.in_node
          ? wire_bytes_per_rank(message.collective, message.size, static_cast<int>(local))
          : message.size * ((nodes - 1) / nodes / static_cast<double>(circles.most));
  const Bytes fits{message.alone.si / circles.slowest * below_rounding};
  const Bytes sent = circles.slowest > 0 ? std::min(bytes, fits) : bytes;
  Route route;
  route.of_one = message.in_node ? bytes : bytes * static_cast<double>(own.waits_for.size() - 1);
  for (const Incidence::Load& load : own.loads) {
    route.loads.push_back({load.link, sent * load.units, 1});
  }
  return route;
}

double Platform::latency_ratio(const Message& message, std::size_t stage,
                               Direction direction) const {
  const Group group = group_of(message, stage, direction);
  const auto price_on = [&](std::size_t of) {
    return CollectiveModel(servers_of(of), group).price(message.collective, message.size);
  };
  CollectivePrice price = price_on(stage);
  if (!kinds_.empty() && direction != Direction::inside) {
    const CollectivePrice there = price_on(neighbour(stage, direction));
    price = there.time > price.time ? there : price;
  }
  return price.time > 0_s ? std::min(1.0, price.latency / price.time) : 0.0;
}

Route Platform::collective(const Message& message, std::size_t stage) const {
  const Group group = group_of(message, stage, Direction::inside);
  if (message.from_host) {
    return between_hosts(message, stage, part_across_nodes(group));
  }
  Route route;
  load_ring(route, message, group, stage);
  return route;
}

// Alike on the first stage and on the last one.
Route Platform::between_ends(const Message& message) const {
  const Group group = group_of(message, 0, Direction::inside);
  Route route;
  for (const std::size_t stage : {std::size_t{0}, stages_.size() - 1}) {
    load_ring(route, message, group, stage);
  }
  return route;
}

void Platform::load_ring(Route& route, const Message& message, const Group& group,
                         std::size_t stage) const {
  const StageLinks& links = stages_[stage];
  const bool one_bus = links.slot_out != no_link && links.slot_out == links.fabric_out;
  const Spread bytes = spread(message, group, paths_of(servers_of(stage), group), one_bus);
  route.of_one = bytes.node > 0_B ? bytes.node : bytes.gpu;
  const double groups = group.rivals * part_of_stage(message.kind, layout_, cluster_.gpus_per_node);
  load(route, links.nic_out, bytes.node * groups, message.alone);
  load(route, links.nic_in, bytes.node * groups, message.alone);
  load(route, links.fabric_out, bytes.gpu, message.alone);
  load(route, links.fabric_in, bytes.gpu, message.alone);
  load(route, links.slot_out, bytes.slot, message.alone);
  load(route, links.slot_in, bytes.slot, message.alone);
}

Route Platform::send(const Message& message, std::size_t stage, Direction direction) const {
  const std::size_t to = neighbour(stage, direction);
  const Group group = group_of(message, stage, direction);
  Route route;
  route.of_one = message.size;
  route.latency_ratio = latency_ratio(message, stage, direction);
  // What is left of the time after the latency is what the bytes take.
  const Seconds moving = message.alone * (1.0 - route.latency_ratio);
  if (paths_of(servers_of(stage), group).domains > 1) {
    load(route, stages_[stage].nic_out, message.size * group.rivals, moving);
    load(route, stages_[to].nic_in, message.size * group.rivals, moving);
    load(route, stages_[stage].slot_out, message.size, moving);
    load(route, stages_[to].slot_in, message.size, moving);
  } else {
    load(route, stages_[stage].fabric_out, message.size, moving);
    load(route, stages_[to].fabric_in, message.size, moving);
  }
  return route;
}

// The algorithm may send less than a ring, or the law be faster than the line: alone it fits.
void Platform::load(Route& route, std::size_t link, Bytes bytes, Seconds alone) const {
  if (link != no_link && bytes > 0_B && alone > 0_s) {
    route.loads.push_back(
        {link, std::min(bytes, links_[link].capacity * alone * below_rounding), 1});
  }
}

}  // namespace payoff::sim
