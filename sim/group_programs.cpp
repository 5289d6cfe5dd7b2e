// SPDX-License-Identifier: Apache-2.0
#include "sim/group_programs.hpp"

#include <algorithm>
#include <utility>

#include "model/groups.hpp"

namespace payoff::sim {

CollectivePrice ProgramLaws::price(const Message& message) {
  std::optional<CollectiveModel>& model = models_.at(static_cast<std::size_t>(message.kind));
  if (!model) {
    model.emplace(cluster_, group_of(message.kind, layout_, cluster_.gpus_per_node));
  }
  return model->price(message.collective, message.size);
}

std::optional<Algorithm> ProgramLaws::algorithm_of_sends(const Message& message) {
  if (message.kind == MessageKind::cp_activations || message.from_host || message.graph > 0 ||
      message.alone <= 0_s || message.size <= 0_B) {
    return std::nullopt;
  }
  return price(message).algorithm;
}

SendNetwork send_network(const SendRules& rules, const Incidence& incidence,
                         const SendIncidence& sends, const Partition& partition) {
  SendNetwork network{rules.cluster, rules.layout, {}};
  const ClassPrograms classes(incidence, sends, partition);
  for (const SendIncidence::Laid& laid : sends.programs) {
    const SendNetwork::Key key{partition.channels[laid.channel], laid.collective, laid.algorithm};
    const auto [known, added] = network.programs.try_emplace(key);
    if (added) {
      GroupProgram& program = known->second;
      program = {laid.program, classes.of(laid), 0};
      program.sends = program.classes.sends.count();
    }
  }
  return network;
}

const GroupProgram* GroupPrograms::of(std::size_t group, const Message& message) {
  const std::optional<Algorithm> algorithm = laws_.algorithm_of_sends(message);
  if (!algorithm) {
    return nullptr;
  }
  const auto known = network_.programs.find({group, message.collective, *algorithm});
  return known != network_.programs.end() ? &known->second : nullptr;
}

std::vector<SendPrice> GroupPrograms::prices(const GroupProgram& program, const Message& message) {
  CollectivePrice price = laws_.price(message);
  const double latency_ratio = price.time > 0_s ? std::min(1.0, price.latency / price.time) : 0.0;
  price.time = message.alone;
  price.latency = message.alone * latency_ratio;
  const StepsPrice phases = price_of(program.laid->program, price, message.size);
  std::vector<SendPrice> result;
  for (const PhasePrice& phase : phases.phases) {
    result.insert(result.end(), phase.steps, phase.price);
  }
  return result;
}

}  // namespace payoff::sim
