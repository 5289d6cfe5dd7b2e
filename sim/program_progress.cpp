// SPDX-License-Identifier: Apache-2.0
#include "sim/program_progress.hpp"

#include <algorithm>

namespace payoff::sim {

ProgramProgress::ProgramProgress(const Program& program)
    : program_(&program),
      lone_sends_(program.has_lone_sends() ? program.places() : 0),
      position_(program.has_lone_sends() ? 0 : program.places()),
      inside_(program.places()) {}

void ProgramProgress::begin(std::vector<SendId>& ready) {
  for (Rank r = 0; r < program_->places(); ++r) {
    lone_sends_.empty() ? proceed(r, ready) : proceed_alone(r, ready);
  }
}

void ProgramProgress::arrived(const SendId& id, std::vector<SendId>& ready) {
  const Send known = send(id);
  if (lone_sends_.empty()) {
    through(id.step, known.from, ready);
    through(id.step, known.to, ready);
    return;
  }
  LoneSends& from = lone_sends_[known.from];
  if (++from.made == from.begun && from.got >= from.begun) {
    proceed_alone(known.from, ready);
  }
  LoneSends& to = lone_sends_[known.to];
  if (++to.got == to.begun && to.made == to.begun) {
    proceed_alone(known.to, ready);
  }
}

Send ProgramProgress::send(const SendId& id) const {
  return lone_sends_.empty() ? open_step(id.step).sends[id.index]
                             : program_->lone_send(id.step, id.index);
}

double ProgramProgress::part_of_rank(const SendId& id) const {
  if (!lone_sends_.empty()) {
    return 1.0;
  }
  const Send known = send(id);
  if (program_->segments() > 1) {
    return program_->share(known) * program_->segments();
  }
  return program_->lanes() > 0
             ? 1.0 / program_->lanes()
             : program_->share(known) / open_step(id.step).share_of_rank[known.from];
}

Bytes ProgramProgress::most_memory(const Program& program, std::uint64_t sends) {
  const double places = program.places();
  if (program.has_lone_sends()) {
    return Bytes{places * sizeof(LoneSends)};
  }
  const double open = std::min<double>(program.steps(), places);
  const double a_step = static_cast<double>(sends) / program.steps();
  constexpr std::size_t of_rank = 2 * sizeof(std::uint32_t) + sizeof(double);
  return Bytes{open * (sizeof(Step) + a_step * sizeof(Send) + places * of_rank)};
}

ProgramProgress::Step& ProgramProgress::step(std::uint32_t number) {
  while (first_step_ + open_.size() <= number) {
    add_step();
  }
  return open_[number - first_step_];
}

void ProgramProgress::add_step() {
  Step& added = open_.emplace_back();
  added.inside = program_->places();
  add_sends(added);
}

void ProgramProgress::add_sends(Step& step) {
  program_->sends(static_cast<std::uint32_t>(first_step_ + open_.size() - 1), step.sends);
  std::stable_sort(step.sends.begin(), step.sends.end(),
                   [](const Send& a, const Send& b) { return a.from < b.from; });
  step.first.assign(program_->places() + 1, 0);
  step.awaited.assign(program_->places(), 0);
  for (const Send& send : step.sends) {
    ++step.first[send.from + 1];
    ++step.awaited[send.to];
    ++step.awaited[send.from];
  }
  for (Rank r = 0; r < program_->places(); ++r) {
    step.first[r + 1] += step.first[r];
  }
  step.share_of_rank = shares_of_ranks(*program_, step.sends);
}

// Sends of every step whose predecessors have arrived.
void ProgramProgress::proceed(Rank rank, std::vector<SendId>& ready) {
  for (;;) {
    const std::uint32_t at = position_[rank];
    if (at > 0) {
      Step& before = step(at - 1);
      if (before.awaited[rank] > 0) {
        return;
      }
      --before.inside;
    }
    if (at == program_->steps()) {
      --inside_;
      break;
    }
    ++position_[rank];
    const Step& now = step(at);
    for (std::uint32_t i = now.first[rank]; i < now.first[rank + 1]; ++i) {
      ready.push_back({at, i});
    }
  }
  while (!open_.empty() && open_.front().inside == 0) {
    open_.pop_front();
    ++first_step_;
  }
}

// To the step after those that it has begun and are through.
void ProgramProgress::proceed_alone(Rank rank, std::vector<SendId>& ready) {
  LoneSends& sends = lone_sends_[rank];
  if (sends.begun == program_->steps()) {
    --inside_;
    return;
  }
  ready.push_back({sends.begun++, rank});
}

void ProgramProgress::through(std::uint32_t number, Rank rank, std::vector<SendId>& ready) {
  if (--step(number).awaited[rank] == 0 && position_[rank] == number + 1) {
    proceed(rank, ready);
  }
}

std::vector<double> shares_of_ranks(const Program& program, const std::vector<Send>& sends) {
  std::vector<double> shares(program.places());
  for (const Send& send : sends) {
    shares[send.from] += program.share(send);
  }
  return shares;
}

}  // namespace payoff::sim
