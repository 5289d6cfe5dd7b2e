// SPDX-License-Identifier: Apache-2.0
#include "sim/incidence.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "sim/grouped_ranks.hpp"
#include "sim/invariant.hpp"

namespace payoff::sim {
namespace {

using Role = Incidence::Role;

constexpr Rank to_rank(int count) { return static_cast<Rank>(count); }

// Sums of such numbers are exact, in whatever order: equal channels get equal loads.
double rounded_units(double units) {
  constexpr double grid = 1099511627776.0;  // 2^40
  return std::round(units * grid) / grid;
}

class Builder {
 public:
  Builder(const ParallelLayout& layout, Routing& routing, const IncidenceRules& rules)
      : layout_(layout),
        routing_(routing),
        rules_(rules),
        stage_ranks_(to_rank(layout.tp) * to_rank(layout.data_ranks())),
        link_of_edge_(routing.graph().links.edges().size(), Incidence::none) {}

  Incidence build() {
    const Rank count = stage_ranks_ * to_rank(layout_.stages());
    PAYOFF_INVARIANT(routing_.graph().links.ranks() >= count, "more ranks than GPUs");
    for (Rank r = 0; r < count; ++r) {
      Incidence::RankPart& part = result_.ranks.emplace_back();
      part.stage = r / stage_ranks_;
      part.slowdown = rules_.slowdown.empty() ? 1.0 : rules_.slowdown[r];
    }
    const std::vector<GroupKind> kinds = kinds_of_groups();
    for (Rank r = 0; r < count; ++r) {
      for (const GroupKind kind : kinds) {
        add_group(kind, r);
      }
    }
    for (Rank r = 0; r < stage_ranks_ && rules_.joins_ends; ++r) {
      add_group(GroupKind::ends, r);
    }
    for (Rank r = 0; r < count && layout_.stages() > 1; ++r) {
      add_sends(r, count);
    }
    measure();
    return std::move(result_);
  }

 private:
  using Loads = std::map<EdgeId, double>;

  // That the ranks of every stage are in.
  [[nodiscard]] std::vector<GroupKind> kinds_of_groups() const {
    std::vector<GroupKind> kinds{GroupKind::tensor};
    const auto add = [&](bool has, GroupKind kind) {
      if (has) {
        kinds.push_back(kind);
      }
    };
    add(layout_.cp > 1, GroupKind::context);
    add(true, GroupKind::gradients);
    add(layout_.zero > 0, GroupKind::replicas);
    add(layout_.ep > 1, GroupKind::experts);
    add(layout_.etp > 1, GroupKind::expert_tensor);
    add(layout_.has_expert_groups(), GroupKind::expert_gradients);
    add(layout_.has_expert_groups() && layout_.zero > 0, GroupKind::expert_replicas);
    return kinds;
  }

  // Of one rank of so many, to its neighbours in the pipeline.
  void add_sends(Rank rank, Rank count) {
    const std::size_t stage = result_.ranks[rank].stage;
    const bool around = layout_.virtual_stages > 1 && !is_v_shaped(layout_.schedule);
    if (is_two_ended(layout_.schedule) && stage + 1 == to_rank(layout_.stages())) {
      add_send(Role::forward, rank, at_other_copy(rank));
    }
    if (around || stage + 1 < to_rank(layout_.stages())) {
      add_send(Role::forward, rank, (rank + stage_ranks_) % count);
    }
    if (around || stage > 0) {
      add_send(Role::backward, rank, (rank + count - stage_ranks_) % count);
    }
  }

  // Copies of the weights of a stage follow one another.
  [[nodiscard]] Rank at_other_copy(Rank rank) const {
    const Rank first = rank - rank % stage_ranks_;
    return first + (rank - first + stage_ranks_ / 2) % stage_ranks_;
  }

  void flow(Rank from, Rank to, double units, Loads& loads) {
    for (const EdgeShare& part : routing_.route(from, to, flow_between(from, to))) {
      loads[part.edge] += rounded_units(units * part.share);
    }
  }

  std::vector<Incidence::Load> taken(const Loads& loads) {
    std::vector<Incidence::Load> result;
    result.reserve(loads.size());
    for (const auto& [edge, units] : loads) {
      std::uint32_t& link = link_of_edge_[edge];
      if (link == Incidence::none) {
        link = static_cast<std::uint32_t>(result_.links.size());
        result_.links.push_back(link_part(routing_.graph().links.edges()[edge], edge));
      }
      result.push_back({link, units});
    }
    return result;
  }

  void add_group(GroupKind kind, Rank rank) {
    const RankGroup group = group_of(kind, rank, layout_);
    if (group.first != rank) {
      return;
    }
    Incidence::Channel channel{static_cast<Role>(kind), {}, {}, {}};
    for (Rank i = 0; i < group.count; ++i) {
      channel.members.push_back(group.first + i * group.stride);
      result_.ranks[channel.members.back()].channel[static_cast<std::size_t>(kind)] =
          static_cast<std::uint32_t>(result_.channels.size());
    }
    if (group.count > 1) {
      channel.ring = taken(ring(channel.members));
      if (rules_.exchanges.test(static_cast<std::size_t>(kind))) {
        channel.pairs = taken(pairs(channel.members));
      }
    }
    result_.channels.push_back(std::move(channel));
  }

  // Servers one after the other; inside each, all ranks but one step of the ring.
  Loads ring(const std::vector<Rank>& members) {
    const std::vector<std::vector<Rank>> servers = grouped_ranks(members, [&](Rank rank) {
      return routing_.graph().gpu_of_rank[rank] / rules_.server_ranks;
    });
    const std::size_t local = servers.front().size();
    const bool equal = std::all_of(servers.begin(), servers.end(),
                                   [&](const auto& server) { return server.size() == local; });
    Loads loads;
    if (servers.size() == 1 || local == 1 || !equal) {
      for (std::size_t i = 0; i < members.size(); ++i) {
        flow(members[i], members[(i + 1) % members.size()], 1.0, loads);
      }
      return loads;
    }
    const auto ranks = static_cast<double>(local);
    for (std::size_t s = 0; s < servers.size(); ++s) {
      const std::vector<Rank>& next = servers[(s + 1) % servers.size()];
      for (std::size_t i = 0; i < local; ++i) {
        flow(servers[s][i], next[i], 1.0 / ranks, loads);
        flow(servers[s][i], servers[s][(i + 1) % local], (ranks - 1) / ranks, loads);
      }
    }
    return loads;
  }

  Loads pairs(const std::vector<Rank>& members) {
    Loads loads;
    for (const Rank from : members) {
      for (const Rank to : members) {
        if (from != to) {
          flow(from, to, 1.0 / static_cast<double>(members.size() - 1), loads);
        }
      }
    }
    return loads;
  }

  void add_send(Role role, Rank from, Rank to) {
    result_.ranks[from].channel[static_cast<std::size_t>(role)] =
        static_cast<std::uint32_t>(result_.channels.size());
    Loads loads;
    flow(from, to, 1.0, loads);
    result_.channels.push_back({role, {from, to}, taken(loads), {}});
  }

  // Where all channels of a role and a stage send at once.
  void measure() {
    for (std::size_t role = 0; role < Incidence::role_count; ++role) {
      auto& stages = result_.nominal[role];
      stages.resize(to_rank(layout_.stages()));
      std::vector<std::map<std::uint32_t, std::pair<double, double>>> sums(stages.size());
      for (const Incidence::Channel& channel : result_.channels) {
        if (static_cast<std::size_t>(channel.role) != role) {
          continue;
        }
        auto& sum = sums[result_.ranks[channel.members.front()].stage];
        for (const Incidence::Load& load : channel.ring) {
          sum[load.link].first += load.units;
        }
        for (const Incidence::Load& load : channel.pairs) {
          sum[load.link].second += load.units;
        }
      }
      for (std::size_t s = 0; s < stages.size(); ++s) {
        for (const auto& [link, units] : sums[s]) {
          note(stages[s], link, units.first, units.second);
        }
      }
    }
  }

  void note(Incidence::Nominal& nominal, std::uint32_t link, double units, double pairs) const {
    const Edge& edge = routing_.graph().links.edges()[result_.links[link].edge];
    if (result_.links[link].inside) {
      const Bandwidth least = edge.link_class == LinkClass::fabric ? rules_.fabric : Bandwidth{};
      const double known = std::max(edge.nominal, least).si;
      nominal.inside = std::max(nominal.inside, units / known);
      nominal.inside_pairs = std::max(nominal.inside_pairs, pairs / known);
    } else if (edge.link_class == LinkClass::nic) {
      const double known = std::max(edge.nominal, rules_.nic).si;
      nominal.outside = std::max(nominal.outside, units / known);
      nominal.outside_pairs = std::max(nominal.outside_pairs, pairs / known);
    }
  }

  const ParallelLayout& layout_;
  Routing& routing_;
  const IncidenceRules& rules_;
  Rank stage_ranks_;
  std::vector<std::uint32_t> link_of_edge_;
  Incidence result_;
};

}  // namespace

RankGroup group_of(GroupKind kind, Rank rank, const ParallelLayout& layout) {
  const Rank tp = to_rank(layout.tp);
  const Rank cp = to_rank(layout.cp);
  const Rank dp = to_rank(layout.data_ranks());  // cp innermost
  const Rank shard = layout.zero > 0 ? to_rank(layout.shard_ranks()) : dp;
  const Rank t = rank % tp;
  const Rank d = rank / tp % dp;
  const Rank in_stage = rank % (tp * dp);
  const Rank stage_first = rank - in_stage;
  const Rank etp = to_rank(layout.etp);
  const Rank apart = to_rank(layout.expert_ranks());  // of those with the same experts
  const Rank e = in_stage / apart;
  const Rank same_first = stage_first + in_stage % apart;
  const Rank part = layout.zero > 0 ? to_rank(layout.expert_shards()) : tp * dp / apart;
  switch (kind) {
    case GroupKind::tensor:
      return {rank - t, 1, tp};
    case GroupKind::context:
      return {rank - d % cp * tp, tp, cp};
    case GroupKind::gradients:
      return {stage_first + (d - d % shard) * tp + t, tp, shard};
    case GroupKind::replicas:
      return {stage_first + d % shard * tp + t, tp * shard, dp / shard};
    case GroupKind::experts:
      return {rank - in_stage % apart + in_stage % etp, etp, to_rank(layout.ep)};
    case GroupKind::expert_tensor:
      return {rank - in_stage % etp, 1, etp};
    case GroupKind::expert_gradients:
      return {same_first + (e - e % part) * apart, apart, part};
    case GroupKind::expert_replicas:
      return {same_first + e % part * apart, apart * part, tp * dp / apart / part};
    case GroupKind::ends:
      return {in_stage, tp * dp * (to_rank(layout.stages()) - 1), 2};
  }
  return {rank, 1, 1};
}

Incidence::LinkPart link_part(const Edge& edge, EdgeId number) {
  const bool inside = edge.link_class == LinkClass::fabric || edge.link_class == LinkClass::pcie ||
                      edge.link_class == LinkClass::socket;
  return {number, edge.capacity, inside};
}

Incidence incidence_of(const ParallelLayout& layout, Routing& routing,
                       const IncidenceRules& rules) {
  return Builder(layout, routing, rules).build();
}

}  // namespace payoff::sim
