// SPDX-License-Identifier: Apache-2.0
#include "sim/invariant.hpp"
#include "sim/step_pieces.hpp"
#include "sim/step_stage.hpp"

// A forward and a backward that run as one (model/paired_pieces.hpp): pieces of both in a fixed
// order on the compute stream, their messages one at a time on another one. A task's round is the
// operation that it is of.

namespace payoff::sim {
namespace {

// Of a forward, and of a backward whatever part of it.
constexpr std::size_t side_of(std::size_t round) { return round == 0 ? 0 : 1; }

}  // namespace

const Piece& StageRun::piece_of(const PairedPiece& paired) const {
  const StageCompute& compute = *plan_.stages[stage_].compute;
  return (paired.part == PairedPiece::Part::forward ? compute.forward
                                                    : compute.backward)[paired.piece];
}

// When both have their inputs.
bool StageRun::begin_pair() {
  const Operation forward = schedule_[next_operation_];
  const Operation backward = schedule_[next_operation_ + 1];
  const bool first = stage_ == 0 && forward.chunk == 0;
  const Path* input = inputs_.arrived(forward);
  const Path* gradients = inputs_.arrived(backward);
  if ((!first && input == nullptr) || gradients == nullptr) {
    return false;
  }
  Path& path = stream(StreamKind::compute).path;
  for (const Path* arrived : {input, gradients}) {
    if (arrived != nullptr && path.end() < arrived->end()) {
      path = *arrived;
    }
  }
  PAYOFF_INVARIANT(path.end() == engine_.now(), "a pair starts before or after its causes");
  if (input != nullptr) {
    inputs_.use(forward);
  }
  inputs_.use(backward);
  pair_->next = 0;
  pair_->runs = true;
  pair_->operations = {forward, backward, schedule_[next_operation_ + 2]};
  operation_ = forward;
  next_operation_ += operations_of_pair;
  return true;
}

// The next one, once the message before it in its own micro-batch has come.
bool StageRun::begin_pair_piece() {
  const std::vector<PairedPiece>& pieces =
      pair_->pieces.at(static_cast<std::size_t>(pair_->operations[0].chunk));
  if (pair_->next == pieces.size()) {
    return false;
  }
  const PairedPiece& paired = pieces[pair_->next];
  const auto round = static_cast<std::size_t>(paired.part);
  const std::size_t side = side_of(round);
  if (paired.part != PairedPiece::Part::weights && pair_->waits.at(side)) {
    return false;
  }
  ++pair_->next;
  const payoff::Work& work = piece_of(paired).work;
  begin(StreamKind::compute, {Task::Role::piece,
                              cause_of(work.kind),
                              time_for(work),
                              paired.piece,
                              round,
                              pair_->message.at(side),
                              {},
                              work.memory_share,
                              nullptr,
                              nullptr,
                              work.mix});
  return true;
}

void StageRun::pair_piece_ended(const Task& task, const Path& path) {
  const std::vector<std::size_t>& messages =
      task.round == 0 ? forward_messages_ : backward_messages_;
  const Message& message = *messages_[messages[task.index]];
  const SimTime alone = time_of(message.alone);
  if (alone.picoseconds > 0) {
    pair_->waits.at(side_of(task.round)) = true;
    stream(StreamKind::exchange)
        .queue.push_back({Task::Role::piece_message,
                          message_cause(message),
                          alone,
                          task.index,
                          task.round,
                          path,
                          {},
                          {},
                          nullptr,
                          &message});
    meetings_.hand_over(place_, StreamKind::exchange, {&message, task.index, task.round}, path);
  }
  end_pair(path);
}

void StageRun::pair_message_ended(const Task& task, const Path& path) {
  const std::size_t side = side_of(task.round);
  pair_->waits.at(side) = false;
  pair_->message.at(side) = path;
  end_pair(path);
}

// Once nothing of either is left; `path` led to the end of the last task.
void StageRun::end_pair(const Path& path) {
  const std::size_t pieces =
      pair_->pieces.at(static_cast<std::size_t>(pair_->operations[0].chunk)).size();
  if (pair_->next < pieces || pair_->waits[0] || pair_->waits[1] ||
      stream(StreamKind::compute).busy) {
    return;
  }
  pair_->runs = false;
  stream(StreamKind::compute).path = path;
  for (const Operation& operation : pair_->operations) {
    ended_.push_back({operation, path});
  }
}

}  // namespace payoff::sim
