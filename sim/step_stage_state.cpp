// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "model/interference.hpp"
#include "sim/step_pieces.hpp"
#include "sim/step_stage.hpp"
#include "sim/trace.hpp"

// What a stage is at: rates of its streams, the account of its time, its trace.

namespace payoff::sim {
namespace {

// Of the compute stream: a kernel, or a message that everything waits for.
StageActivity::Doing doing_of(Cause cause) {
  using Doing = StageActivity::Doing;
  return cause == Cause::tp_message   ? Doing::tp_message
         : cause == Cause::cp_message ? Doing::cp_message
         : cause == Cause::ep_message ? Doing::ep_message
                                      : Doing::compute;
}

}  // namespace

StreamKind StageRun::codec_stream() const {
  return has_own_stream(plan_.placement) ? StreamKind::codec : StreamKind::compute;
}

const std::vector<Piece>& StageRun::pieces() const {
  const StageCompute& compute = *plan_.stages[stage_].compute;
  return operation_.is_forward ? compute.forward : compute.backward;
}

const std::vector<WeightGather>& StageRun::gathers() const {
  const StagePlan& stage = plan_.stages[stage_];
  return operation_.is_forward ? stage.forward_gathers : stage.backward_gathers;
}

bool StageRun::waits_for_weights() const { return piece_ < piece_end_ && gathered_ < needed_; }

const Message& StageRun::piece_message(std::size_t piece) const {
  return *messages_[(operation_.is_forward ? forward_messages_ : backward_messages_)[piece]];
}

SimTime StageRun::time_for(const payoff::Work& work) const {
  return time_of(work.alone * slowdown_);
}

Cause StageRun::message_cause(const Message& message) {
  return message.kind == MessageKind::cp_activations ? Cause::cp_message
         : is_of_experts(message.kind)               ? Cause::ep_message
                                                     : Cause::tp_message;
}

void StageRun::count_bytes(const Stream& stream) {
  bytes_of(stream.task) += stream.message->message->size;
}

Bytes& StageRun::bytes_of(const Task& task) {
  return task.cause == Cause::cp_message   ? cp_bytes_
         : task.cause == Cause::ep_message ? ep_bytes_
         : task.cause == Cause::tp_message ? tp_bytes_
                                           : dp_bytes_;
}

// Work of the codec, on either stream.
bool StageRun::is_codec(const Stream& stream) {
  return stream.task.role == Task::Role::encode || stream.task.role == Task::Role::decode;
}

SimTime StageRun::held_back(StreamKind kind) {
  Stream& s = stream(kind);
  const SimTime late = engine_.now() - s.since - s.task.alone;
  s.held_back += static_cast<double>((engine_.now() - s.rate_since).picoseconds) * (1.0 - s.rate);
  s.rate_since = engine_.now();
  return {std::min<std::int64_t>(late.picoseconds, std::llround(s.held_back))};
}

void StageRun::message_ended(StreamKind kind, SimTime by_memory) {
  Stream& s = stream(kind);
  // Sends of a program are rounded one by one, and may be through a tick each too early.
  const SimTime alone = std::min(s.task.alone, engine_.now() - s.since);
  const SimTime late = engine_.now() - s.since - alone;
  s.path.add(s.task.cause, alone);
  s.path.count_activity();
  s.path.add(Cause::memory_contention, by_memory);
  s.path.add(Cause::link_contention, late - by_memory);
  max_memory_delay_ = std::max(max_memory_delay_, by_memory);
  count_bytes(s);
  finish(kind);
}

void StageRun::set_rate(Stream& s, double rate) {
  if (s.rate == rate) {
    return;
  }
  const SimTime now = engine_.now();
  s.held_back += static_cast<double>((now - s.rate_since).picoseconds) * (1.0 - s.rate);
  s.rate_since = now;
  s.rate = rate;
  if (s.message != nullptr) {
    meetings_.rate_changed(s.flight);
  } else if (s.busy) {
    engine_.set_rate_bound(s.activity, full_rate * rate);
  }
}

void StageRun::set_rates() {
  Stream& compute = stream(StreamKind::compute);
  Stream& codec = stream(StreamKind::codec);
  // Of gradients, or of a pair, which completes none.
  Stream& gradients = stream(exchanges() ? StreamKind::exchange : StreamKind::gradients);
  const bool on_stream = compute.busy && compute.task.role != Task::Role::piece_message &&
                         compute.task.role != Task::Role::host;
  const bool computes = on_stream && !is_codec(compute);
  // The kernel of a message that was handed over holds its units while it waits for the others.
  const double held = exchanges() ? plan_.exchanges_on(stage_) : plan_.reserved_on(stage_);
  const double message = gradients.busy || gradients.waiting() ? held : 0.0;
  const double reserved = sends_ > 0 ? held_share(message, plan_.sends_on(stage_)) : message;
  const Pace pace = plan_.paces(stage_, reserved)[computes ? compute.task.mix : 0];
  const double copies = on_host_ ? copy_memory_share() : 0.0;
  const double room =
      (gradients.busy ? memory_room(gradients.message->message->memory_share, held) : 1.0) - copies;
  const double of_stream = on_stream ? compute.task.memory_share : 0.0;
  const StreamRates rates = within_memory(
      stream_rates(computes, codec.busy || (on_stream && !computes), reserved,
                   plan_.pairs_on(stage_), pace.rate, pace.idle_share, turns_of(plan_.placement)),
      computes ? of_stream : 0.0,
      codec.busy ? codec.task.memory_share : (computes ? 0.0 : of_stream), room, pace.idle_share);
  double demand = copies;
  if (on_stream) {
    set_rate(compute, computes ? rates.compute : rates.codec);
    demand += compute.rate * compute.task.memory_share;
  }
  if (codec.busy) {
    set_rate(codec, rates.codec);
    demand += codec.rate * codec.task.memory_share;
  }
  if (gradients.busy) {
    set_rate(gradients, message_rate(demand, gradients.message->message->memory_share, held));
  }
}

StageActivity StageRun::activity() {
  using Doing = StageActivity::Doing;
  const Stream& compute = stream(StreamKind::compute);
  const Stream& codec = stream(StreamKind::codec);
  StageActivity result;
  result.dp_busy = stream(StreamKind::gradients).busy || stream(StreamKind::host_messages).busy;
  result.pp_busy = inputs_.any_on_their_way();
  const Stream& kernel = compute.busy ? compute : codec;
  result.cause = kernel.task.cause;
  result.rate = kernel.rate;
  if (kernel.busy && kernel.task.copy.picoseconds > 0) {
    result.copy_share = to_seconds(kernel.task.copy) / to_seconds(kernel.task.alone);
  }
  if (kernel.busy && kernel.task.update.picoseconds > 0) {
    result.update_share = to_seconds(kernel.task.update) / to_seconds(kernel.task.alone);
  }
  if (compute.busy) {
    result.doing = doing_of(compute.task.cause);
    result.waits = compute.task.role == Task::Role::piece_message && compute.message == nullptr;
    if (pair_ != nullptr && stream(StreamKind::exchange).busy) {
      result.beside = doing_of(stream(StreamKind::exchange).task.cause);
    }
  } else if (is_over()) {
    result.doing = Doing::over;
  } else if (exchanges()) {
    const Stream& exchange = stream(StreamKind::exchange);
    result.waits = !exchange.busy;
    result.doing =
        doing_of(exchange.busy ? exchange.task.cause : exchange.queue[exchange.head].cause);
  } else if (next_operation_ < schedule_.size() && !waits_for_weights()) {
    result.doing =
        inputs_.has_been_sent(schedule_[next_operation_]) ? Doing::pp_message : Doing::bubble;
  } else if (phase_ == Phase::tied_sum && !result.dp_busy) {
    result.doing = Doing::bubble;  // the other end of the pipeline has gradients left
  } else {
    result.doing = codec.busy ? Doing::codec : Doing::dp_message;
    result.waits = !result.dp_busy;
    if (on_host_ && !codec.busy) {
      find_host_activity(result);
    }
  }
  return result;
}

void StageRun::write_trace(StreamKind kind) const {
  static_assert(activations_track + 1 == first_send_track);
  constexpr std::array<std::string_view, first_host_track + 4> tracks{"compute",
                                                                      "codec",
                                                                      "gradient messages",
                                                                      "activation messages",
                                                                      "",
                                                                      "",
                                                                      "copies to the host",
                                                                      "cores of the host",
                                                                      "messages between hosts",
                                                                      "copies to the GPU"};
  const Stream& s = stream(kind);
  TraceSpan span;
  span.place = place_;
  span.stage = stage_;
  span.one_of_several = one_of_several_;
  const bool of_activations = s.task.role == Task::Role::piece_message;
  const auto number = static_cast<std::size_t>(kind);
  span.track = of_activations                  ? activations_track
               : kind <= StreamKind::gradients ? number
                                               : first_host_track + number - 3;
  span.track_name = tracks[span.track];
  span.name = name(s.task.cause);
  span.begin = s.since;
  span.end = engine_.now();
  span.alone = s.task.alone;
  if (s.message != nullptr) {
    span.collective = payoff::name(s.message->message->collective);
    span.bytes = s.message->message->size;
  }
  span.item = item_of(s.task);
  trace_->write(span);
}

// What the work or the message is of; empty where there is one only.
std::string StageRun::item_of(const Task& task) const {
  if (task.role == Task::Role::piece || task.role == Task::Role::piece_message) {
    const Operation& operation = runs_pair() ? pair_->operations.at(task.round) : operation_;
    return "micro_batch " + std::to_string(operation.micro_batch) + " chunk " +
           std::to_string(operation.chunk) + " piece " + std::to_string(task.index);
  }
  if (task.role == Task::Role::tied_sum) {
    return "word embedding of both ends";
  }
  if (task.role < Task::Role::optimizer) {
    return (is_of_weights(*task.kind) ? "weights " : "bucket ") + std::to_string(task.index) +
           " round " + std::to_string(task.round);
  }
  return {};
}

}  // namespace payoff::sim
