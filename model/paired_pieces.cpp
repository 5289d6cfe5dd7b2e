// SPDX-License-Identifier: Apache-2.0
#include "model/paired_pieces.hpp"

#include <algorithm>
#include <deque>
#include <limits>

#include "model/interference.hpp"

namespace payoff {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

double& hidden_of(PairEffect& effect, MessageKind kind) {
  return kind == MessageKind::cp_activations ? effect.hidden_cp
         : is_of_experts(kind)               ? effect.hidden_ep
                                             : effect.hidden_tp;
}

class PairRun {
 public:
  PairRun(const StepPlan& plan, std::size_t stage, int forward_chunk, double sending)
      : plan_(plan),
        compute_(*plan.stages[stage].compute),
        order_(paired_pieces(compute_, plan.layout, forward_chunk)),
        stage_(stage),
        held_(plan.exchanges_on(stage)),
        sending_(sending) {}

  PairSpan run() {
    begin_pieces();
    while (work_ != nullptr || !flights_.empty()) {
      step();
    }
    return span_;
  }

 private:
  struct Flight {
    const Message* message;
    std::size_t side;
    double left;
  };

  [[nodiscard]] const Piece& piece_of(const PairedPiece& paired) const {
    return paired.part == PairedPiece::Part::forward ? compute_.forward[paired.piece]
                                                     : compute_.backward[paired.piece];
  }
  static std::size_t side_of(const PairedPiece& paired) {
    return paired.part == PairedPiece::Part::forward ? 0 : 1;
  }

  // What can run now, and ends what takes no time.
  void begin_pieces() {
    while (work_ == nullptr && next_ < order_.size()) {
      const PairedPiece& paired = order_[next_];
      if (paired.part != PairedPiece::Part::weights && waits_[side_of(paired)]) {
        return;
      }
      ++next_;
      work_ = &piece_of(paired);
      side_ = side_of(paired);
      left_ = work_->work.alone.si;
      if (left_ <= 0.0) {
        end_piece();
      }
    }
  }

  void end_piece() {
    const Message& message = work_->message;
    work_ = nullptr;
    if (message.alone > 0_s) {
      waits_[side_] = true;
      flights_.push_back({&message, side_, message.alone.si});
      hidden_of(span_.effect, message.kind) += message.alone.si;
    }
  }

  struct Rates {
    double work{};
    double message{};
  };
  [[nodiscard]] Rates rates() const {
    const bool in_flight = !flights_.empty();
    const double held = in_flight ? held_ : 0.0;
    const double of_message = in_flight ? flights_.front().message->memory_share : 0.0;
    if (work_ == nullptr) {
      return {0.0, message_rate(0.0, of_message, held_)};
    }
    const double reserved = span_.time < sending_ ? held_share(held, plan_.sends_on(stage_)) : held;
    const Pace pace = plan_.paces(stage_, reserved)[work_->work.mix];
    const double room = in_flight ? memory_room(of_message, held_) : 1.0;
    const double rate =
        within_memory({pace.rate, 0.0}, work_->work.memory_share, 0.0, room, pace.idle_share)
            .compute;
    return {rate, message_rate(rate * work_->work.memory_share, of_message, held_)};
  }

  // To the next change.
  void step() {
    const Rates rate = rates();
    const double to_work = work_ != nullptr ? left_ / rate.work : never;
    const double to_message = flights_.empty() ? never : flights_.front().left / rate.message;
    const double to_send = span_.time < sending_ ? sending_ - span_.time : never;
    const double passes = std::min({to_work, to_message, to_send});
    if (work_ != nullptr) {
      span_.effect.slowed += passes * (1.0 - rate.work);
      left_ -= passes * rate.work;
    } else {
      hidden_of(span_.effect, flights_.front().message->kind) -= passes;
    }
    if (!flights_.empty()) {
      flights_.front().left -= passes * rate.message;
    }
    span_.time = passes == to_send ? sending_ : span_.time + passes;
    if (passes == to_work) {
      end_piece();
    }
    if (passes == to_message) {
      waits_[flights_.front().side] = false;
      flights_.pop_front();
    }
    begin_pieces();
  }

  const StepPlan& plan_;
  const StageCompute& compute_;
  std::vector<PairedPiece> order_;
  std::size_t stage_;
  double held_;  // of the units, by a message in flight
  double sending_;
  std::size_t next_{};
  const Piece* work_{};  // that runs, for so long alone
  std::size_t side_{};
  double left_{};
  std::deque<Flight> flights_;  // the first one goes, the others wait for it
  std::array<bool, 2> waits_{};
  PairSpan span_;
};

}  // namespace

std::vector<PairedPiece> paired_pieces(const StageCompute& compute, const ParallelLayout& layout,
                                       int forward_chunk) {
  using Part = PairedPiece::Part;
  const int chunk = 1 - forward_chunk;
  const auto place = [&](bool of_weights) {
    return backward_place({false, chunk, 0, of_weights}, layout.virtual_stages, layout.schedule);
  };
  PieceRange forward = pieces_of_chunk(compute.forward, compute.forward_chunks,
                                       static_cast<std::size_t>(forward_chunk));
  PieceRange inputs = pieces_of_chunk(compute.backward, compute.backward_chunks, place(false));
  PieceRange weights = pieces_of_chunk(compute.backward, compute.backward_chunks, place(true));
  const std::size_t first_weights =
      compute.backward_chunks[static_cast<std::size_t>(layout.virtual_stages)];
  const auto inputs_are_there = [&] {
    return compute.weights_after.empty()
               ? inputs.begin == inputs.end
               : compute.weights_after[weights.begin - first_weights] <= inputs.begin;
  };
  std::vector<PairedPiece> order;
  order.reserve(forward.end - forward.begin + inputs.end - inputs.begin + weights.end -
                weights.begin);
  while (inputs.begin < inputs.end || forward.begin < forward.end) {
    if (inputs.begin < inputs.end) {
      order.push_back({Part::inputs, inputs.begin++});
    }
    if (forward.begin < forward.end) {
      order.push_back({Part::forward, forward.begin++});
    }
    while (weights.begin < weights.end && inputs_are_there()) {
      order.push_back({Part::weights, weights.begin++});
    }
  }
  return order;
}

PairSpan PairTimes::run(std::size_t stage, int forward_chunk, double sending) {
  if (sending > 0.0 && plan_.sends_on(stage) > 0.0) {
    return PairRun(plan_, stage, forward_chunk, sending).run();
  }
  const std::size_t like = plan_.units.empty() ? plan_.stages[stage].like : stage;
  auto& known = alone_[like][static_cast<std::size_t>(forward_chunk)];
  if (!known) {
    known = PairRun(plan_, like, forward_chunk, 0.0).run();
  }
  return *known;
}

}  // namespace payoff
