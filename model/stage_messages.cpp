// SPDX-License-Identifier: Apache-2.0
#include "model/stage_messages.hpp"

#include <algorithm>
#include <span>

#include "model/interference.hpp"
#include "model/table_exchange.hpp"

namespace payoff {
namespace {

bool passes_keys(const ContextSync& context) {
  return context.parts.exchange == ContextExchange::ring;
}

Bytes inputs(const ContextSync& context) {
  return context.query_per_sample + context.key_value_per_sample;
}

std::span<const Operator> attention(const Layer& layer, const ContextSync& context) {
  return {&layer.forward[context.attention], 1};
}

// The part of a layer between two sums that a sync's output goes to, forward or backward. Blocks
// are alike: after the last part comes the first one. What goes to the encoder's output is no part.
std::size_t following(const Layer& layer, const TensorParallelSync& sync, bool forward) {
  const auto own = static_cast<std::size_t>(&sync - layer.syncs.data());
  const std::size_t count = layer.syncs.size();
  std::size_t next = own;
  do {
    next = (next + (forward ? 1 : count - 1)) % count;
  } while (layer.syncs[next].of_encoder);
  return next;
}

}  // namespace

StageMessages::Messages StageMessages::after_forward(const Layer& layer, std::size_t op) const {
  Messages messages;
  for (const TensorParallelSync& sync : layer.syncs) {
    if (sync.forward && sync.after == op) {
      add_sync(messages, layer, sync, true);
    }
  }
  for (const ContextSync& context : layer.contexts) {
    add_forward_context(messages, layer, context, op);
  }
  if (layer.experts && op + 1 == layer.experts->before) {
    add_tokens(messages, *layer.experts);
    add_gather(messages, *layer.experts);
  }
  if (layer.experts && op == layer.experts->after) {
    add_sum(messages, *layer.experts);
    add_tokens(messages, *layer.experts);
  }
  if (layer.exchange && op + 1 == layer.forward.size()) {
    add_tables(messages, layer, true);
  }
  return messages;
}

StageMessages::Messages StageMessages::before_backward(const Layer& layer, std::size_t op) const {
  Messages messages;
  for (const TensorParallelSync& sync : layer.syncs) {
    if (sync.backward && sync.before == op) {
      add_sync(messages, layer, sync, false);
    }
  }
  for (const ContextSync& context : layer.contexts) {
    add_backward_context(messages, layer, context, op);
  }
  if (layer.experts && op == layer.experts->after + 1) {
    add_tokens(messages, *layer.experts);
    add_gather(messages, *layer.experts);
  }
  if (layer.experts && op == layer.experts->before) {
    add_sum(messages, *layer.experts);
    add_tokens(messages, *layer.experts);
  }
  if (layer.exchange && op == 0) {
    add_tables(messages, layer, false);
  }
  return messages;
}

StageMessages::Messages StageMessages::around_again(const Layer& layer) const {
  Messages messages;
  for (const ContextSync& context : layer.contexts) {
    if (passes_keys(context)) {
      add_forward_ring(messages, layer, context);
    }
  }
  return messages;
}

void StageMessages::add_forward_context(Messages& messages, const Layer& layer,
                                        const ContextSync& context, std::size_t op) const {
  if (passes_keys(context)) {
    if (op == context.attention) {
      add_forward_ring(messages, layer, context);
    }
    return;
  }
  if (op + 1 == context.attention) {
    add_exchange(messages, Collective::all_to_all, inputs(context));
  }
  if (op == context.attention) {
    add_exchange(messages, Collective::all_to_all, context.query_per_sample);
  }
}

void StageMessages::add_backward_context(Messages& messages, const Layer& layer,
                                         const ContextSync& context, std::size_t op) const {
  if (passes_keys(context)) {
    if (op == context.attention) {
      const ComputePrice price =
          price_backward(attention(layer, context), layout_.micro_batch, compute_);
      add_hops(messages, context, 2 * context.key_value_per_sample, price.time);
      add_exchange(messages, Collective::send_recv, context.key_value_per_sample);
    }
    return;
  }
  if (op == context.attention + 1) {
    add_exchange(messages, Collective::all_to_all, context.query_per_sample);
  }
  if (op == context.attention) {
    add_exchange(messages, Collective::all_to_all, inputs(context));
  }
}

void StageMessages::add_forward_ring(Messages& messages, const Layer& layer,
                                     const ContextSync& context) const {
  const ComputePrice price =
      price_forward(attention(layer, context), layout_.micro_batch, compute_);
  add_hops(messages, context, context.key_value_per_sample, price.time);
}

// Forward the ranks of sequence parallelism gather what a product needs; others have it. Backward
// its gradients are added up.
void StageMessages::add_encoder_sync(Messages& messages, const Layer& layer,
                                     const TensorParallelSync& sync, bool forward) const {
  const Bytes size = layout_.micro_batch * sync.bytes_per_sample;
  const auto whole = [&](Collective collective, double share) {
    return priced_message(MessageKind::tp_activations, networks_.tensor, collective, share * size);
  };
  if (!layout_.sequence_parallel) {
    messages.push_back(whole(Collective::all_reduce, 1.0));
    return;
  }
  const Message half = forward ? whole(Collective::all_gather, cast_share())
                               : whole(Collective::reduce_scatter, 1.0);
  messages.push_back(beside(half, layer.forward[sync.before], forward));
}

// Where casts are part of other kernels they come before the gather (Transformer Engine gathers
// the quantised inputs of column-parallel and gradients of row-parallel products).
double StageMessages::cast_share() const {
  return compute_.software.fused_elementwise
             ? element_size(compute_.precision) / activation_size(compute_.precision)
             : 1.0;
}

// What the last product before a sum has computed is scattered, what the first one after it needs
// is gathered; in backward likewise, with the other products of their parts.
void StageMessages::add_sync(Messages& messages, const Layer& layer, const TensorParallelSync& sync,
                             bool forward) const {
  if (sync.of_encoder) {
    add_encoder_sync(messages, layer, sync, forward);
    return;
  }
  const Bytes size = layout_.micro_batch * sync.bytes_per_sample;
  const auto whole = [&](Collective collective) {
    return priced_message(MessageKind::tp_activations, networks_.tensor, collective, size);
  };
  if (!layout_.sequence_parallel) {
    messages.push_back(whole(Collective::all_reduce));
    return;
  }
  const std::size_t other = following(layer, sync, forward);
  const Operator& scattered = layer.forward[forward ? sync.after : sync.before];
  const Operator& gathered =
      layer.forward[forward ? layer.syncs[other].before : layer.syncs[other].after];
  messages.push_back(beside(whole(Collective::reduce_scatter), scattered, forward));
  // What the ends of a model gather goes to a product of another layer.
  const bool in_block = sync.forward && sync.backward;
  const double share = in_block ? cast_share() : 1.0;
  const Message gather = priced_message(MessageKind::tp_activations, networks_.tensor,
                                        Collective::all_gather, share * size);
  messages.push_back(in_block ? beside(gather, gathered, forward) : gather);
}

// In pieces, the first message or the first product exposed and the last one of the other. The
// kernels of a message hold their units for its life, beside all products but one.
Message StageMessages::beside(const Message& whole, const Operator& product, bool forward) const {
  const int pieces = layout_.tp_overlap;
  if (pieces == 1 || product.kind != OperatorKind::gemm || whole.alone <= 0_s) {
    return whole;
  }
  Operator part = product;
  part.rows_per_sample /= pieces;
  const auto time_of = [&](const Operator& op) {
    const std::span<const Operator> one(&op, 1);
    return forward ? price_forward(one, layout_.micro_batch, compute_).time
                   : price_backward(one, layout_.micro_batch, compute_, BackwardPart::inputs).time;
  };
  const Message message =
      priced_message(whole.kind, networks_.tensor, whole.collective, whole.size / pieces);
  const double left = 1.0 - reserved_share(message.channels, compute_.gpu.compute_units);
  const Seconds alone = time_of(part);
  const Seconds both = std::max(message.alone, alone + (1.0 - left) * message.alone);
  const Seconds all = message.alone + (pieces - 1) * both + alone;
  Message exposed = whole;
  exposed.alone = std::max(0_s, all - time_of(product));
  exposed.size = whole.size * std::min(1.0, exposed.alone / whole.alone);
  exposed.least_share = 0;  // what is hidden grows as the message gets faster
  return exposed;
}

// Ranks that divide an expert and have the same tokens already have nothing to gather.
void StageMessages::add_gather(Messages& messages, const ExpertSync& experts) const {
  if (experts.gathers) {
    messages.push_back(priced_message(MessageKind::etp_activations, networks_.expert_tensor,
                                      Collective::all_gather,
                                      layout_.micro_batch * experts.tensor_bytes_per_sample));
  }
}

void StageMessages::add_sum(Messages& messages, const ExpertSync& experts) const {
  if (experts.tensor_bytes_per_sample > 0_B) {
    messages.push_back(
        priced_message(MessageKind::etp_activations, networks_.expert_tensor,
                       experts.gathers ? Collective::reduce_scatter : Collective::all_reduce,
                       layout_.micro_batch * experts.tensor_bytes_per_sample));
  }
}

void StageMessages::add_tokens(Messages& messages, const ExpertSync& experts) const {
  if (experts.bytes_per_sample <= 0_B) {
    return;
  }
  messages.push_back(priced_message(MessageKind::ep_activations, networks_.experts,
                                    Collective::all_to_all,
                                    layout_.micro_batch * experts.bytes_per_sample));
}

// The rank with most tables sends most, and gets most gradients: all wait for it.
void StageMessages::add_tables(Messages& messages, const Layer& layer, bool forward) const {
  const Message whole =
      priced_message(MessageKind::table_activations, networks_.tables, Collective::all_to_all,
                     layout_.micro_batch * layer.exchange->sent_per_sample);
  const Seconds beside = time_beside_tables(layer, forward, layout_.micro_batch, compute_);
  messages.push_back(exposed_beside(whole, beside, compute_.gpu));
}

void StageMessages::add_exchange(Messages& messages, Collective collective,
                                 Bytes per_sample) const {
  messages.push_back(priced_message(MessageKind::cp_activations, networks_.context, collective,
                                    layout_.micro_batch * per_sample));
}

// All hops in one message: what of them is longer than the block beside it.
void StageMessages::add_hops(Messages& messages, const ContextSync& context, Bytes per_sample,
                             Seconds all_blocks) const {
  const Seconds block = all_blocks / context.parts.ranks;
  const Message hop = priced_message(MessageKind::cp_activations, networks_.context,
                                     Collective::send_recv, layout_.micro_batch * per_sample);
  if (hop.alone <= block) {
    return;
  }
  Message exposed = hop;
  exposed.alone = (context.parts.ranks - 1) * (hop.alone - block);
  exposed.size = hop.size * (exposed.alone / hop.alone);
  exposed.least_share = 0;  // a faster hop is hidden altogether
  messages.push_back(exposed);
}

}  // namespace payoff
