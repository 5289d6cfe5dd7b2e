// SPDX-License-Identifier: Apache-2.0
#include "model/stage_messages.hpp"

#include <span>

namespace payoff {
namespace {

bool exchanges_heads(const Layer& layer) {
  return layer.context && layer.context->parts.exchange == ContextExchange::all_to_all;
}

bool passes_keys(const Layer& layer) {
  return layer.context && layer.context->parts.exchange == ContextExchange::ring;
}

Bytes inputs(const ContextSync& context) {
  return context.query_per_sample + context.key_value_per_sample;
}

std::span<const Operator> attention(const Layer& layer) {
  return {&layer.forward[layer.context->attention], 1};
}

Message message_of(MessageKind kind, const CollectiveModel& network, Collective collective,
                   Bytes size) {
  const CollectivePrice price = network.price(collective, size);
  return {kind, collective, size, price.time, price.channels, price.relative_sd};
}

}  // namespace

StageMessages::Messages StageMessages::after_forward(const Layer& layer, std::size_t op) const {
  Messages messages;
  for (const TensorParallelSync& sync : layer.syncs) {
    if (sync.forward && sync.after == op) {
      add_sync(messages, sync);
    }
  }
  if (exchanges_heads(layer) && op + 1 == layer.context->attention) {
    add_exchange(messages, Collective::all_to_all, inputs(*layer.context));
  }
  if (exchanges_heads(layer) && op == layer.context->attention) {
    add_exchange(messages, Collective::all_to_all, layer.context->query_per_sample);
  }
  if (passes_keys(layer) && op == layer.context->attention) {
    add_forward_ring(messages, layer);
  }
  if (layer.experts && (op + 1 == layer.experts->before || op == layer.experts->after)) {
    add_tokens(messages, *layer.experts);
  }
  return messages;
}

StageMessages::Messages StageMessages::before_backward(const Layer& layer, std::size_t op) const {
  Messages messages;
  for (const TensorParallelSync& sync : layer.syncs) {
    if (sync.backward && sync.before == op) {
      add_sync(messages, sync);
    }
  }
  if (exchanges_heads(layer) && op == layer.context->attention + 1) {
    add_exchange(messages, Collective::all_to_all, layer.context->query_per_sample);
  }
  if (exchanges_heads(layer) && op == layer.context->attention) {
    add_exchange(messages, Collective::all_to_all, inputs(*layer.context));
  }
  if (passes_keys(layer) && op == layer.context->attention) {
    const ContextSync& context = *layer.context;
    const ComputePrice price = price_backward(attention(layer), layout_.micro_batch, compute_);
    add_hops(messages, context, 2 * context.key_value_per_sample, price.time);
    add_exchange(messages, Collective::send_recv, context.key_value_per_sample);
  }
  if (layer.experts && (op == layer.experts->after + 1 || op == layer.experts->before)) {
    add_tokens(messages, *layer.experts);
  }
  return messages;
}

StageMessages::Messages StageMessages::around_again(const Layer& layer) const {
  Messages messages;
  if (passes_keys(layer)) {
    add_forward_ring(messages, layer);
  }
  return messages;
}

void StageMessages::add_forward_ring(Messages& messages, const Layer& layer) const {
  const ComputePrice price = price_forward(attention(layer), layout_.micro_batch, compute_);
  add_hops(messages, *layer.context, layer.context->key_value_per_sample, price.time);
}

void StageMessages::add_sync(Messages& messages, const TensorParallelSync& sync) const {
  const Bytes size = layout_.micro_batch * sync.bytes_per_sample;
  const auto add = [&](Collective collective) {
    messages.push_back(message_of(MessageKind::tp_activations, networks_.tensor, collective, size));
  };
  if (layout_.sequence_parallel) {
    add(Collective::reduce_scatter);
    add(Collective::all_gather);
  } else {
    add(Collective::all_reduce);
  }
}

void StageMessages::add_tokens(Messages& messages, const ExpertSync& experts) const {
  messages.push_back(message_of(MessageKind::ep_activations, networks_.experts,
                                Collective::all_to_all,
                                layout_.micro_batch * experts.bytes_per_sample));
}

void StageMessages::add_exchange(Messages& messages, Collective collective,
                                 Bytes per_sample) const {
  messages.push_back(message_of(MessageKind::cp_activations, networks_.context, collective,
                                layout_.micro_batch * per_sample));
}

// All hops in one message: what of them is longer than the block beside it.
void StageMessages::add_hops(Messages& messages, const ContextSync& context, Bytes per_sample,
                             Seconds all_blocks) const {
  const Seconds block = all_blocks / context.parts.ranks;
  const Message hop = message_of(MessageKind::cp_activations, networks_.context,
                                 Collective::send_recv, layout_.micro_batch * per_sample);
  if (hop.alone <= block) {
    return;
  }
  Message exposed = hop;
  exposed.alone = (context.parts.ranks - 1) * (hop.alone - block);
  exposed.size = hop.size * (exposed.alone / hop.alone);
  messages.push_back(exposed);
}

}  // namespace payoff
