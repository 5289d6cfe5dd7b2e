// SPDX-License-Identifier: Apache-2.0
#include "sim/send_incidence.hpp"

#include <bit>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>

#include "model/groups.hpp"
#include "sim/group_programs.hpp"
#include "sim/place.hpp"
#include "sim/routing.hpp"
#include "sim/stage_messages.hpp"

namespace payoff::sim {
namespace {

// What the messages of a stage need of the groups of a kind.
struct Need {
  GroupKind kind{};
  Collective collective{};
  Algorithm algorithm{};
  MessageKind message{};  // one of those

  friend bool operator<(const Need& a, const Need& b) {
    return std::tie(a.kind, a.collective, a.algorithm) <
           std::tie(b.kind, b.collective, b.algorithm);
  }
};

std::vector<std::set<Need>> needs_of(const StepPlan& plan, const SendRules& rules) {
  ProgramLaws laws(rules.cluster, rules.layout);
  std::vector<std::set<Need>> needs(plan.stages.size());
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    for (const StageMessage& message : messages_of_stage(plan, s)) {
      const auto algorithm = is_between_stages(message.traffic)
                                 ? std::nullopt
                                 : laws.algorithm_of_sends(*message.message);
      if (algorithm) {
        const MessageKind kind = message.message->kind;
        needs[s].insert({group_kind(kind), message.message->collective, *algorithm, kind});
      }
    }
  }
  return needs;
}

std::vector<VertexId> fabric_switches(const Topology& topology) {
  std::vector<VertexId> switches;
  if (const auto* shape = std::get_if<RegularTopology>(&topology.shape)) {
    const RegularLayout layout(*shape);
    for (std::uint32_t s = 0; layout.has_fabric_switch() && s < layout.servers(); ++s) {
      switches.push_back(layout.fabric_switch(s));
    }
  }
  return switches;
}

class SendIncidenceBuilder {
 public:
  SendIncidenceBuilder(const SendRules& rules, const TopologyGraph& graph, Incidence& incidence)
      : rules_(rules),
        graph_(with_switches(graph, fabric_switches(rules.topology))),
        routing_(graph_, rules.topology.balance, rules.topology.seed),
        incidence_(incidence),
        link_of_edge_(graph_.links.edges().size(), Incidence::none) {
    for (std::uint32_t l = 0; l < incidence.links.size(); ++l) {
      link_of_edge_[incidence.links[l].edge] = l;
    }
  }

  std::optional<SendIncidence> build(const std::vector<std::set<Need>>& needs) {
    for (std::uint32_t c = 0; c < incidence_.channels.size(); ++c) {
      const Incidence::Channel& channel = incidence_.channels[c];
      if (Incidence::is_send(channel.role) || channel.members.size() < 2) {
        continue;
      }
      const auto kind = static_cast<GroupKind>(channel.role);
      for (const Need& need : needs[incidence_.ranks[channel.members.front()].stage]) {
        if (need.kind == kind) {
          lay(c, need);
        }
        if (too_many_) {
          return std::nullopt;
        }
      }
    }
    return std::move(result_);
  }

 private:
  // A program with its sends, numbered: what says the same has the same numbers.
  struct Numbered {
    std::shared_ptr<const LaidProgram> program;
    std::shared_ptr<const ProgramSends> sends;
    std::uint32_t number{};
    std::vector<std::uint32_t> what;  // of its sends, pattern by pattern
  };

  void lay(std::uint32_t c, const Need& need) {
    const std::vector<Rank>& members = incidence_.channels[c].members;
    std::vector<std::uint32_t> gpus;
    gpus.reserve(members.size());
    for (const Rank member : members) {
      gpus.push_back(graph_.gpu_of_rank[member]);
    }
    const Group shape = payoff::group_of(need.message, rules_.layout, rules_.cluster.gpus_per_node);
    const ProgramRanks ranks =
        ranks_of_part(rules_.topology, gpus, static_cast<Rank>(shape.ranks_per_node));
    const Numbered* known = program(need, ranks, members);
    if (known == nullptr) {
      return;
    }
    std::vector<Rank> places = members;
    for (Rank s = 0; s < known->program->switches.size(); ++s) {  // of the server of its first rank
      const auto& server = std::get<RegularTopology>(rules_.topology.shape).server;
      places.push_back(static_cast<Rank>(graph_.gpu_of_rank.size()) +
                       gpus[std::size_t{s} * ranks.gpus] / static_cast<std::uint32_t>(server.gpus));
    }
    add({c, need.collective, need.algorithm, known->program, known->sends,
         static_cast<std::uint32_t>(result_.seats.size()),
         static_cast<std::uint32_t>(result_.sends.size())},
        *known, places);
  }

  void add(SendIncidence::Laid laid, const Numbered& known, const std::vector<Rank>& places) {
    for (Rank p = 0; p < laid.sends->places; ++p) {
      result_.seats.push_back({laid.channel, known.number});
    }
    too_many_ = result_.sends.size() + known.what.size() > most_listed_sends;
    if (too_many_) {
      return;
    }
    std::size_t i = 0;
    for (const StepSends& pattern : laid.sends->patterns) {
      for (const PlacedSend& send : pattern.sends) {
        result_.sends.push_back({laid.first_seat + send.from, laid.first_seat + send.to,
                                 way(places[send.from], places[send.to]), known.what[i++]});
      }
    }
    result_.programs.push_back(std::move(laid));
  }

  // Where no links between GPUs lead programs along, ranks and servers say which one it is.
  [[nodiscard]] bool follows_links() const {
    const auto* shape = std::get_if<RegularTopology>(&rules_.topology.shape);
    return shape == nullptr || shape->server.fabric == ServerFabric::mesh;
  }

  const Numbered* program(const Need& need, const ProgramRanks& ranks,
                          const std::vector<Rank>& members) {
    const auto key = std::tuple(need.collective, need.algorithm, ranks.ranks, ranks.gpus);
    auto& of_key = laid_[key];
    if (!of_key.empty() && !follows_links()) {
      return of_key.front();
    }
    LaidOrReason laid = program_of(need.collective, need.algorithm, ranks, rules_.topology,
                                   part_of(graph_, members));
    if (std::holds_alternative<std::string>(laid)) {
      of_key.push_back(nullptr);
      return nullptr;
    }
    auto program = std::make_shared<const LaidProgram>(std::get<LaidProgram>(std::move(laid)));
    std::optional<ProgramSends> known = sends_of(program->program, most_listed_sends);
    if (!known) {
      too_many_ = true;
      return nullptr;
    }
    auto sends = std::make_shared<const ProgramSends>(*std::move(known));
    for (const Numbered* other : of_key) {
      if (other != nullptr && same_sends(*other->sends, *sends)) {
        return other;
      }
    }
    numbered_.push_back(numbered(std::move(program), std::move(sends)));
    of_key.push_back(&numbered_.back());
    return of_key.back();
  }

  Numbered numbered(std::shared_ptr<const LaidProgram> program,
                    std::shared_ptr<const ProgramSends> sends) {
    Numbered result{
        std::move(program), std::move(sends), static_cast<std::uint32_t>(numbered_.size()), {}};
    for (std::size_t pattern = 0; pattern < result.sends->patterns.size(); ++pattern) {
      std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> known;
      for (const PlacedSend& send : result.sends->patterns[pattern].sends) {
        const auto [number, added] = known.try_emplace(
            {std::bit_cast<std::uint64_t>(send.share), std::bit_cast<std::uint64_t>(send.part)},
            next_what_);
        next_what_ += added ? 1 : 0;
        result.what.push_back(number->second);
      }
    }
    return result;
  }

  std::uint32_t way(Rank from, Rank to) {
    const std::uint64_t flow = flow_between(from, to);
    const auto [known, added] =
        ways_.try_emplace(flow, static_cast<std::uint32_t>(result_.ways.size()));
    if (added) {
      SendIncidence::Way& way = result_.ways.emplace_back();
      for (const EdgeShare& part : routing_.route(from, to, flow)) {
        std::uint32_t& link = link_of_edge_[part.edge];
        if (link == Incidence::none) {
          link = static_cast<std::uint32_t>(incidence_.links.size());
          incidence_.links.push_back(link_part(graph_.links.edges()[part.edge], part.edge));
        }
        way.loads.push_back({link, part.share});
      }
    }
    return known->second;
  }

  const SendRules& rules_;
  TopologyGraph graph_;  // with the fabric switches of servers as places after its ranks
  Routing routing_;
  Incidence& incidence_;
  std::vector<std::uint32_t> link_of_edge_;
  std::map<std::tuple<Collective, Algorithm, Rank, Rank>, std::vector<const Numbered*>> laid_;
  std::deque<Numbered> numbered_;
  std::uint32_t next_what_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> ways_;  // looked up only
  bool too_many_ = false;
  SendIncidence result_;
};

}  // namespace

std::optional<SendIncidence> send_incidence(const StepPlan& plan, const SendRules& rules,
                                            const TopologyGraph& graph, Incidence& incidence) {
  return SendIncidenceBuilder(rules, graph, incidence).build(needs_of(plan, rules));
}

}  // namespace payoff::sim
