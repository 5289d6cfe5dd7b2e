// SPDX-License-Identifier: Apache-2.0
#include "model/activation_codecs.hpp"

#include <algorithm>
#include <cmath>

namespace payoff {
namespace {

MessageKind kind_of(Traffic traffic) {
  switch (traffic) {
    case Traffic::dp_gradients:
      return MessageKind::dp_gradients;
    case Traffic::tp_activations:
      return MessageKind::tp_activations;
    case Traffic::pp_activations:
      return MessageKind::pp_activations;
  }
  return MessageKind::dp_gradients;
}

constexpr Workers one_worker{1, 1};

}  // namespace

ParameterTensor activation_tensor(Bytes size, Bytes element, std::int64_t width) {
  const double rows = size / element / static_cast<double>(width);
  return {std::llround(rows), width, true};
}

Bytes boundary_size(const Layer& layer, const ParallelLayout& layout) {
  const double share = layout.sequence_parallel ? 1.0 / layout.tp : 1.0;
  return share * layout.micro_batch * layer.boundary_per_sample;
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
                                   const CollectiveModel& tensor)
    : workload_(workload),
      layout_(layout),
      compute_(compute),
      tensor_(tensor),
      element_(element_size(compute.precision)),
      block_of_(blocks_of_layers(workload)) {
  std::size_t method = plan.method ? 1 : 0;
  for (const ActivationCompression& of : plan.activations) {
    const Method sent = with_formulas(of.method, of.method.sent);
    codecs_.push_back({&of, method++, sent, with_formulas(sent, of.method.backward)});
  }
}

const ActivationCodecs::Codec* ActivationCodecs::codec_of(MessageKind kind) const {
  for (const Codec& codec : codecs_) {
    if (kind_of(codec.of->traffic) == kind) {
      return &codec;
    }
  }
  return nullptr;
}

bool ActivationCodecs::compresses(const Codec& codec, std::size_t layer, bool forward) const {
  return (forward ? codec.of->forward : codec.of->backward) && block_of_[layer] >= 0 &&
         codec.of->blocks.holds(block_of_[layer]);
}

std::vector<Piece> ActivationCodecs::in_place_of(const Message& dense, std::size_t layer,
                                                 bool forward) {
  const Codec* codec = codec_of(dense.kind);
  if (codec == nullptr || !compresses(*codec, layer, forward)) {
    return {};
  }
  return sum(*codec, dense.collective, dense.size).pieces;
}

std::vector<Piece> ActivationCodecs::gradients_through(const TensorParallelSync& sync,
                                                       std::size_t layer) {
  const Codec* codec = codec_of(MessageKind::tp_activations);
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
  const Codec* codec = codec_of(MessageKind::pp_activations);
  if (codec == nullptr || !compresses(*codec, layer, forward)) {
    return none_;
  }
  if (sends_.empty()) {  // all blocks send the same
    const Bytes size = boundary_size(workload_.layers[layer], layout_);
    sends_ = {price_send(*codec, codec->sent, size), price_send(*codec, codec->backward, size)};
  }
  return sends_[forward ? 0 : 1];
}

ActivationCodecs::Kept ActivationCodecs::kept(std::size_t layer) {
  Kept all;
  const Codec* codec = codec_of(MessageKind::tp_activations);
  if (codec == nullptr) {
    return all;
  }
  for (const TensorParallelSync& sync : workload_.layers[layer].syncs) {
    for (const bool forward : {true, false}) {
      if ((forward ? sync.forward : sync.backward) && compresses(*codec, layer, forward)) {
        const Kept one =
            sum(*codec, Collective::all_reduce, layout_.micro_batch * sync.bytes_per_sample).kept;
        all.state += one.state;
        all.saved += forward ? one.saved : 0_B;  // for the gradient of an activation
      }
    }
  }
  return all;
}

const ActivationCodecs::Sum& ActivationCodecs::sum(const Codec& codec, Collective collective,
                                                   Bytes size) {
  for (const Sum& known : sums_) {
    if (known.collective == collective && known.size == size) {
      return known;
    }
  }
  Sum& added = sums_.emplace_back(Sum{collective, size, {}, {}});
  if (collective == Collective::all_reduce) {
    add_whole_sum(codec, added);
  } else {
    add_half(codec, added);
  }
  return added;
}

void ActivationCodecs::add_whole_sum(const Codec& codec, Sum& sum) {
  const Group& group = tensor_.group();
  const CallCost call = cost(codec.of->method, sum.size, {group.ranks, group.ranks_per_node});
  for (const RoundCost& round : call.rounds) {
    // nccl-tests counts the gathered buffer of an all-gather.
    const bool gathers = round.collective == Collective::all_gather;
    sum.pieces.push_back(
        {work(codec, WorkKind::encode, round.encode),
         tensor_message(round.collective, gathers ? group.ranks * round.message : round.message)});
  }
  if (!call.rounds.empty()) {
    sum.pieces.push_back({work(codec, WorkKind::decode, call.decode), {}});
  }
  sum.kept = {call.state, call.saved};
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
  for (const RoundCost& round : encoded.rounds) {
    sum.pieces.push_back(
        {work(codec, WorkKind::encode, round.encode),
         tensor_message(collective, scatters ? round.message : ranks * round.message)});
  }
  if (!encoded.rounds.empty()) {
    const PassCost& decode = scatters && adds_up ? part.decode : whole.decode;
    sum.pieces.push_back({work(codec, WorkKind::decode, decode), {}});
  }
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
  const CollectivePrice price = tensor_.price(collective, size);
  return {
      MessageKind::tp_activations, collective, size, price.time, price.channels, price.relative_sd};
}

}  // namespace payoff
