// SPDX-License-Identifier: Apache-2.0
#include "sim/group_programs.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "model/groups.hpp"
#include "sim/program_count.hpp"

namespace payoff::sim {

CollectivePrice GroupPrograms::law(const Message& message) {
  std::optional<CollectiveModel>& model = models_.at(static_cast<std::size_t>(message.kind));
  if (!model) {
    model.emplace(network_.cluster,
                  payoff::group_of(message.kind, network_.layout, network_.cluster.gpus_per_node));
  }
  return model->price(message.collective, message.size);
}

const GroupProgram* GroupPrograms::of(std::size_t group, const Message& message) {
  if (message.kind == MessageKind::cp_activations || message.from_host || message.alone <= 0_s ||
      message.size <= 0_B) {
    return nullptr;
  }
  const Algorithm algorithm = law(message).algorithm;
  const auto [known, added] = programs_.try_emplace({group, message.collective, algorithm});
  if (added) {
    known->second = laid(group, message, algorithm);
  }
  return known->second ? &*known->second : nullptr;
}

std::optional<GroupProgram> GroupPrograms::laid(std::size_t group, const Message& message,
                                                Algorithm algorithm) const {
  const std::vector<Rank>& members = network_.groups[group];
  const TopologyGraph part = part_of(network_.graph, members);
  const Group shape =
      payoff::group_of(message.kind, network_.layout, network_.cluster.gpus_per_node);
  const ProgramRanks ranks =
      ranks_of_part(network_.topology, part, static_cast<Rank>(shape.ranks_per_node));
  LaidOrReason program = program_of(message.collective, algorithm, ranks, network_.topology, part);
  if (std::holds_alternative<std::string>(program)) {
    return std::nullopt;
  }
  GroupProgram result{std::get<LaidProgram>(std::move(program)), ranks, members, 0};
  result.sends = send_count(result.laid.program);
  const auto gpus = static_cast<Rank>(network_.graph.gpu_of_rank.size());
  for (Rank s = 0; s < result.laid.switches.size(); ++s) {  // of the server of its first rank
    const std::uint32_t gpu = network_.graph.gpu_of_rank[members[std::size_t{s} * ranks.gpus]];
    const auto& server = std::get<RegularTopology>(network_.topology.shape).server;
    result.places.push_back(gpus + gpu / static_cast<std::uint32_t>(server.gpus));
  }
  return result;
}

std::vector<SendPrice> GroupPrograms::prices(const GroupProgram& program, const Message& message) {
  CollectivePrice price = law(message);
  const double latency_ratio = price.time > 0_s ? std::min(1.0, price.latency / price.time) : 0.0;
  price.time = message.alone;
  price.latency = message.alone * latency_ratio;
  const StepsPrice phases = message.collective == Collective::all_to_all
                                ? price_of_pairs(program.laid.program, price, program.ranks,
                                                 network_.cluster, message.size)
                                : price_of(program.laid.program, price, message.size);
  std::vector<SendPrice> result;
  for (const PhasePrice& phase : phases.phases) {
    result.insert(result.end(), phase.steps, phase.price);
  }
  return result;
}

}  // namespace payoff::sim
