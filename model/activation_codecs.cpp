// SPDX-License-Identifier: Apache-2.0
#include "model/activation_codecs.hpp"

#include <algorithm>
#include <cmath>

#include "model/table_exchange.hpp"

namespace payoff {
namespace {

constexpr Workers one_worker{1, 1};

}  // namespace

ParameterTensor activation_tensor(Bytes size, Bytes element, std::int64_t width) {
  const double rows = size / element / static_cast<double>(width);
  return {std::llround(rows), width, true};
}

Bytes boundary_size(const Layer& layer, const ParallelLayout& layout) {
  const double share = layout.sequence_parallel ? 1.0 / layout.tp : 1.0;
  return share * layout.micro_batch * (layer.boundary_per_sample + layer.passed_per_sample);
}

std::vector<std::int64_t> blocks_of_layers(const Workload& workload) {
  std::vector<std::int64_t> blocks;
  blocks.reserve(workload.layers.size());
  std::int64_t next = 0;
  for (const Layer& layer : workload.layers) {
    blocks.push_back(layer.recomputable ? next++ : -1);
  }
  return blocks;
}

ActivationCodecs::ActivationCodecs(const CompressionPlan& plan, const Workload& workload,
                                   const ParallelLayout& layout, const ComputeContext& compute,
                                   const CollectiveModel& tensor, const CollectiveModel& experts,
                                   const CollectiveModel& tables)
    : workload_(workload),
      layout_(layout),
      compute_(compute),
      tensor_(tensor),
      experts_(experts),
      tables_(tables),
      element_(activation_size(compute.precision)),
      block_of_(blocks_of_layers(workload)) {
  std::size_t method = plan.gradient_methods().size();
  for (const ActivationCompression& of : plan.activations) {
    const Method sent = with_formulas(of.method, of.method.sent);
    codecs_.push_back({&of, method++, sent, with_formulas(sent, of.method.backward)});
  }
}

const ActivationCodecs::Codec* ActivationCodecs::codec_of(Traffic traffic) const {
  for (const Codec& codec : codecs_) {
    if (codec.of->traffic == traffic) {
      return &codec;
    }
  }
  return nullptr;
}

// Of messages between two operators. Tokens go to experts before their products, gradients of
// outputs before the backward of these.
const ActivationCodecs::Codec* ActivationCodecs::codec_of(const Message& dense,
                                                          const Place& place) const {
  if (dense.kind == MessageKind::tp_activations) {
    return codec_of(Traffic::tp_activations);
  }
  if (dense.kind == MessageKind::table_activations) {
    return codec_of(Traffic::embeddings);
  }
  if (dense.kind != MessageKind::ep_activations) {
    return nullptr;
  }
  const ExpertSync& experts = *workload_.layers[place.layer].experts;
  const bool dispatches = place.forward ? place.op < experts.before : place.op > experts.after;
  return codec_of(dispatches ? Traffic::ep_dispatch : Traffic::ep_combine);
}

bool ActivationCodecs::compresses(const Codec& codec, std::size_t layer, bool forward) const {
  if (!(forward ? codec.of->forward : codec.of->backward)) {
    return false;
  }
  return codec.of->traffic == Traffic::embeddings ||
         (block_of_[layer] >= 0 && codec.of->blocks.holds(block_of_[layer]));
}

std::vector<Piece> ActivationCodecs::in_place_of(const Message& dense, const Place& place) {
  const Codec* codec = codec_of(dense, place);
  if (codec == nullptr || !compresses(*codec, place.layer, place.forward)) {
    return {};
  }
  if (dense.kind == MessageKind::table_activations) {
    return exchange(*codec, workload_.layers[place.layer], place.forward).pieces;
  }
  return dense.kind == MessageKind::tp_activations
             ? sum(*codec, dense.collective, dense.size).pieces
             : exchange(*codec, *workload_.layers[place.layer].experts).pieces;
}

std::vector<Piece> ActivationCodecs::gradients_through(const TensorParallelSync& sync,
                                                       std::size_t layer) {
  const Codec* codec = codec_of(Traffic::tp_activations);
  if (codec == nullptr || !codec->of->method.learned || !sync.forward ||
      !compresses(*codec, layer, true)) {
    return {};
  }
  const Send both =
      price_send(*codec, codec->backward, layout_.micro_batch * sync.bytes_per_sample);
  std::vector<Piece> pieces;
  pieces.reserve(both.encode.size() + 1);
  for (const Work& work : both.encode) {
    pieces.push_back({work, {}});
  }
  pieces.push_back({both.decode, {}});
  return pieces;
}

const ActivationCodecs::Send& ActivationCodecs::send(std::size_t layer, bool forward) {
  const Codec* codec = codec_of(Traffic::pp_activations);
  if (codec == nullptr || !compresses(*codec, layer, forward)) {
    return none_;
  }
  if (sends_.empty()) {  // all blocks send the same
    const Bytes size = boundary_size(workload_.layers[layer], layout_);
    const auto priced = [&](const Method& method, bool is_forward) {
      return compresses(*codec, layer, is_forward) ? price_send(*codec, method, size) : Send{};
    };
    sends_ = {priced(codec->sent, true), priced(codec->backward, false)};
  }
  return sends_[forward ? 0 : 1];
}

ActivationCodecs::Kept ActivationCodecs::kept(std::size_t number) {
  Kept all;
  const Layer& layer = workload_.layers[number];
  keep_sums(layer, number, all);
  if (const Codec* codec = codec_of(Traffic::embeddings); codec != nullptr && layer.exchange) {
    for (const bool forward : {true, false}) {
      if (compresses(*codec, number, forward)) {
        add(exchange(*codec, layer, forward).kept, forward, all);
      }
    }
  }
  for (const Traffic traffic : {Traffic::ep_dispatch, Traffic::ep_combine}) {
    const Codec* codec = codec_of(traffic);
    for (const bool forward : {true, false}) {
      if (codec != nullptr && layer.experts && compresses(*codec, number, forward)) {
        add(exchange(*codec, *layer.experts).kept, forward, all);
      }
    }
  }
  return all;
}

void ActivationCodecs::keep_sums(const Layer& layer, std::size_t number, Kept& all) {
  const Codec* codec = codec_of(Traffic::tp_activations);
  if (codec == nullptr) {
    return;
  }
  for (const TensorParallelSync& sync : layer.syncs) {
    for (const bool forward : {true, false}) {
      if ((forward ? sync.forward : sync.backward) && compresses(*codec, number, forward)) {
        const Bytes size = layout_.micro_batch * sync.bytes_per_sample;
        add(kept_by_sum(*codec, size), forward, all);
      }
    }
  }
}

// Whatever halves it is sent in: by what a rank would encode of all of it.
ActivationCodecs::Kept ActivationCodecs::kept_by_sum(const Codec& codec, Bytes size) {
  for (const auto& [known, kept] : kept_by_sums_) {
    if (known == size) {
      return kept;
    }
  }
  const Group& group = tensor_.group();
  const CallCost call = cost(codec.of->method, size, {group.ranks, group.ranks_per_node});
  kept_by_sums_.emplace_back(size, Kept{call.state, call.saved});
  return kept_by_sums_.back().second;
}

// What is saved is for the gradient of an activation.
void ActivationCodecs::add(const Kept& one, bool forward, Kept& all) {
  all.state += one.state;
  all.saved += forward ? one.saved : 0_B;
}

const ActivationCodecs::Sum& ActivationCodecs::sum(const Codec& codec, Collective collective,
                                                   Bytes size) {
  for (const Sum& known : sums_) {
    if (known.collective == collective && known.size == size) {
      return known;
    }
  }
  Sum& added = sums_.emplace_back(Sum{collective, size, {}});
  if (collective == Collective::all_reduce) {
    add_whole_sum(codec, added);
  } else {
    add_half(codec, added);
  }
  return added;
}

// Messages one after the other, each encoded before it, all decoded after the last.
template <typename MessageOf>
std::vector<Piece> ActivationCodecs::pieces_of(const Codec& codec, const CallCost& encoded,
                                               const CallCost& sent, const PassCost& decode,
                                               MessageOf message_of) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < sent.rounds.size(); ++i) {
    const PassCost encode = i < encoded.rounds.size() ? encoded.rounds[i].encode : PassCost{};
    pieces.push_back({work(codec, WorkKind::encode, encode), message_of(sent.rounds[i])});
  }
  if (!pieces.empty()) {
    pieces.push_back({work(codec, WorkKind::decode, decode), {}});
  }
  return pieces;
}

void ActivationCodecs::add_whole_sum(const Codec& codec, Sum& sum) {
  const Group& group = tensor_.group();
  const CallCost call = cost(codec.of->method, sum.size, {group.ranks, group.ranks_per_node});
  sum.pieces = pieces_of(codec, call, call, call.decode, [&](const RoundCost& round) {
    return tensor_message(round.collective, collective_size(round, group.ranks));
  });
}

// Of a sum that is scattered, or of parts that are gathered.
void ActivationCodecs::add_half(const Codec& codec, Sum& sum) {
  const int ranks = tensor_.group().ranks;
  const bool scatters = sum.collective == Collective::reduce_scatter;
  const bool adds_up = codec.sent.sums_in_collective;
  const CallCost whole = cost(codec.sent, sum.size, one_worker);
  const CallCost part = cost(codec.sent, sum.size / ranks, one_worker);
  const CallCost& encoded = scatters ? whole : part;
  const Collective collective = !scatters ? Collective::all_gather
                                : adds_up ? Collective::reduce_scatter
                                          : Collective::all_to_all;
  const PassCost& decode = scatters && adds_up ? part.decode : whole.decode;
  sum.pieces = pieces_of(codec, encoded, encoded, decode, [&](const RoundCost& round) {
    return tensor_message(collective, scatters ? round.message : ranks * round.message);
  });
}

// Between ranks that divide the experts. The busiest one has more copies than its own tokens make.
const ActivationCodecs::Exchange& ActivationCodecs::exchange(const Codec& codec,
                                                             const ExpertSync& experts) {
  const Traffic traffic = codec.of->traffic;
  for (const Exchange& known : exchanges_) {
    if (known.traffic == traffic) {
      return known;
    }
  }
  const bool dispatches = traffic == Traffic::ep_dispatch;
  const auto of = [&](Bytes per_sample) {
    return cost(codec.sent, layout_.micro_batch * per_sample, one_worker);
  };
  const CallCost sent = of(experts.bytes_per_sample);
  const CallCost encoded = dispatches ? of(experts.tokens_per_sample) : sent;
  const CallCost decoded = dispatches ? sent : of(experts.copies_per_sample);
  Exchange& added = exchanges_.emplace_back(Exchange{traffic, {}, {encoded.state, encoded.saved}});
  added.pieces = pieces_of(codec, encoded, sent, decoded.decode, [&](const RoundCost& round) {
    return priced_message(MessageKind::ep_activations, experts_, Collective::all_to_all,
                          round.message);
  });
  return added;
}

// Of the one layer beside which vectors of tables come. The rank with most tables sends and, of
// gradients, gets more than its own samples need.
const ActivationCodecs::Exchange& ActivationCodecs::exchange(const Codec& codec, const Layer& layer,
                                                             bool forward) {
  for (const Exchange& known : exchanges_) {
    if (known.traffic == Traffic::embeddings && known.forward == forward) {
      return known;
    }
  }
  const Method& method = forward ? codec.sent : codec.backward;
  const auto of = [&](Bytes per_sample) {
    return cost(method, layout_.micro_batch * per_sample, one_worker);
  };
  const CallCost sent = of(layer.exchange->sent_per_sample);
  const CallCost received = of(layer.exchange->received_per_sample);
  const CallCost& encoded = forward ? sent : received;
  const CallCost& decoded = forward ? received : sent;
  Exchange& added = exchanges_.emplace_back(
      Exchange{Traffic::embeddings, {}, {encoded.state, encoded.saved}, forward});
  Seconds beside = time_beside_tables(layer, forward, layout_.micro_batch, compute_);
  added.pieces = pieces_of(codec, encoded, sent, decoded.decode, [&](const RoundCost& round) {
    const Message whole = priced_message(MessageKind::table_activations, tables_,
                                         Collective::all_to_all, round.message);
    const Message exposed = exposed_beside(whole, beside, compute_.gpu);
    beside = std::max(0_s, beside - whole.alone);
    return exposed;
  });
  return added;
}

ActivationCodecs::Send ActivationCodecs::price_send(const Codec& codec, const Method& method,
                                                    Bytes size) {
  const CallCost call = cost(method, size, one_worker);
  Send send;
  for (const RoundCost& round : call.rounds) {
    send.encode.push_back(work(codec, WorkKind::encode, round.encode));
    send.messages.push_back(round.message);
  }
  if (!call.rounds.empty()) {
    send.decode = work(codec, WorkKind::decode, call.decode);
    send.state = call.state;
    send.saved = call.saved;
  }
  return send;
}

CallCost ActivationCodecs::cost(const Method& method, Bytes size, const Workers& group) const {
  const ParameterTensor tensor = activation_tensor(size, element_, workload_.width);
  return compress(method, {&tensor, 1}, element_, group.all, group.in_node);
}

Work ActivationCodecs::work(const Codec& codec, WorkKind kind, const PassCost& pass) {
  const Gpu& gpu = compute_.gpu;
  const Seconds time = price_pass(pass, codec.of->method.law, gpu, compute_.precision);
  const Work work{kind, time,        {}, memory_share(memory_traffic(pass, gpu), time, gpu),
                  0,    codec.method};
  const auto same = [&](const CodecPass& other) {
    return other.work == work && other.traffic == codec.of->traffic && other.cost == pass;
  };
  if (time > 0_s && std::none_of(passes_.begin(), passes_.end(), same)) {
    passes_.push_back({work, codec.of->traffic, pass});
  }
  return work;
}

Message ActivationCodecs::tensor_message(Collective collective, Bytes size) const {
  return priced_message(MessageKind::tp_activations, tensor_, collective, size);
}

}  // namespace payoff
