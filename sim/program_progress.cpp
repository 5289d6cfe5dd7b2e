// SPDX-License-Identifier: Apache-2.0
#include "sim/program_progress.hpp"

#include <algorithm>

namespace payoff::sim {

ProgramProgress::ProgramProgress(const Program& program)
    : program_(&program),
      places_(program.places()),
      steps_(program.steps()),
      lone_sends_(program.has_lone_sends() ? places_ : 0),
      position_(program.has_lone_sends() ? 0 : places_),
      inside_(places_) {}

ProgramProgress::ProgramProgress(const ProgramSends& sends)
    : known_(&sends),
      places_(sends.places),
      steps_(sends.steps()),
      position_(places_),
      inside_(places_) {}

void ProgramProgress::begin(std::vector<SendId>& ready) {
  for (Rank p = 0; p < places_; ++p) {
    lone_sends_.empty() ? proceed(p, ready) : proceed_alone(p, ready);
  }
}

void ProgramProgress::arrived(const SendId& id, std::vector<SendId>& ready) {
  const PlacedSend done = send(id);
  if (lone_sends_.empty()) {
    through(id.step, done.from, ready);
    through(id.step, done.to, ready);
    return;
  }
  LoneSends& from = lone_sends_[done.from];
  if (++from.made == from.begun && from.got >= from.begun) {
    proceed_alone(done.from, ready);
  }
  LoneSends& to = lone_sends_[done.to];
  if (++to.got == to.begun && to.made == to.begun) {
    proceed_alone(done.to, ready);
  }
}

PlacedSend ProgramProgress::send(const SendId& id) const {
  if (lone_sends_.empty()) {
    return sends_of_open(id.step).sends[id.index];
  }
  const Send alone = program_->lone_send(id.step, id.index);
  return {alone.from, alone.to, program_->share(alone)};
}

Bytes ProgramProgress::most_memory(const ProgramSends& sends) {
  const double open = std::min<double>(sends.steps(), sends.places);
  const double of_step = sizeof(Step) + static_cast<double>(sends.places) * sizeof(std::uint32_t);
  return Bytes{open * of_step};
}

ProgramProgress::Step& ProgramProgress::step(std::uint32_t number) {
  while (first_step_ + open_.size() <= number) {
    add_step();
  }
  return open_[number - first_step_];
}

void ProgramProgress::add_step() {
  const auto number = static_cast<std::uint32_t>(first_step_ + open_.size());
  Step& added = open_.emplace_back();
  added.inside = places_;
  if (known_ == nullptr) {
    added.made = sends_of_step(*program_, number);
  }
  added.awaited = sends_of_open(number).awaited;
}

// Sends of every step whose predecessors have arrived.
void ProgramProgress::proceed(Rank place, std::vector<SendId>& ready) {
  for (;;) {
    const std::uint32_t at = position_[place];
    if (at > 0) {
      Step& before = step(at - 1);
      if (before.awaited[place] > 0) {
        return;
      }
      --before.inside;
    }
    if (at == steps_) {
      --inside_;
      break;
    }
    ++position_[place];
    (void)step(at);
    const StepSends& now = sends_of_open(at);
    for (std::uint32_t i = now.first[place]; i < now.first[place + 1]; ++i) {
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
  if (sends.begun == steps_) {
    --inside_;
    return;
  }
  ready.push_back({sends.begun++, rank});
}

void ProgramProgress::through(std::uint32_t number, Rank place, std::vector<SendId>& ready) {
  if (--step(number).awaited[place] == 0 && position_[place] == number + 1) {
    proceed(place, ready);
  }
}

}  // namespace payoff::sim
