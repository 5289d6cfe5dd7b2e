// SPDX-License-Identifier: Apache-2.0
#include "model/gradient_prices.hpp"

namespace payoff {

Message GradientPrices::round_message(const RoundCost& round, Collective collective,
                                      bool of_experts) {
  if (round.encode.on_host && round.among == Among::nodes) {
    return host_message(round, collective);
  }
  if (round.neighbours > 0 && !of_experts) {
    return graph_message(round);
  }
  if (of_experts || round.among == Among::all) {
    const CollectiveModel& network = of_experts ? context_.experts : context_.network;
    return dp_message(collective, collective_size(round, network.group().ranks), of_experts);
  }
  const CollectiveModel& network =
      round.among == Among::node ? context_.in_node : context_.across_nodes;
  const int ranks = network.group().ranks;
  return ranks == 1 ? Message{}
                    : message(MessageKind::dp_gradients, network, collective,
                              collective_size(round, ranks));
}

Message GradientPrices::dp_message(Collective collective, Bytes size, bool of_experts) {
  return of_experts ? message(MessageKind::ep_gradients, context_.experts, collective, size)
                    : message(MessageKind::dp_gradients, context_.network, collective, size);
}

Message GradientPrices::replica_message(Bytes size, bool of_experts) {
  return of_experts ? message(MessageKind::ep_replicas, context_.expert_replicas,
                              Collective::all_reduce, size / context_.experts.group().ranks)
                    : message(MessageKind::dp_replicas, context_.replicas, Collective::all_reduce,
                              size / context_.network.group().ranks);
}

// An exchange among as many nodes as the busiest vertex and its neighbours are moves as much
// through its NIC, to as many others. The message is counted as one among all nodes, which it is
// of the same bytes through each NIC.
Message GradientPrices::graph_message(const RoundCost& round) {
  const Group& all = context_.across_nodes.group();
  if (all.ranks == 1) {
    return {};
  }
  const auto known = graphs_.find(round.neighbours);
  const CollectiveModel& network =
      known != graphs_.end()
          ? known->second
          : graphs_
                .emplace(round.neighbours,
                         CollectiveModel(context_.cluster, {round.neighbours + 1, 1, all.rivals}))
                .first->second;
  const double n = all.ranks;
  const Bytes to_each = round.message * ((n - 1) / n / round.neighbours);
  Message sent = message(MessageKind::dp_gradients, network, Collective::all_to_all,
                         to_each * (round.neighbours + 1));
  sent.size = sent.alone > 0_s ? round.message : sent.size;
  return sent;
}

// Over the same NICs, at the same price; no GPU holds a unit for it.
Message GradientPrices::host_message(const RoundCost& round, Collective collective) {
  const int ranks = context_.across_nodes.group().ranks;
  Message sent = ranks == 1 ? Message{}
                            : message(MessageKind::dp_gradients, context_.across_nodes, collective,
                                      collective_size(round, ranks));
  sent.channels = 0;
  sent.memory_share = 0.0;
  sent.from_host = true;
  return sent;
}

Message GradientPrices::message(MessageKind kind, const CollectiveModel& network,
                                Collective collective, Bytes size) {
  if (size <= 0_B) {
    return {};
  }
  for (const auto& [among, known] : known_) {
    if (known.size == size && known.collective == collective && known.kind == kind &&
        among == &network) {
      return known;
    }
  }
  known_.emplace_back(&network, priced_message(kind, network, collective, size, context_.gpu));
  return known_.back().second;
}

}  // namespace payoff
