// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/program.hpp"
#include "sim/program_sends.hpp"

// How far a running program has come: which of its sends may start. A place makes those of a step
// when all that was sent to it in earlier steps has arrived and what it sent itself is through.
// What a step waits for is kept from when the first place comes to it until the last one has left,
// and so are its sends, unless those of the program are known. Where every rank makes one send a
// step and gets one, always from the same rank, no step is kept: how many a rank has made and got
// says all.

namespace payoff::sim {

class ProgramProgress {
 public:
  // The program, or its sends, have to outlive this.
  explicit ProgramProgress(const Program& program);
  explicit ProgramProgress(const ProgramSends& sends);

  struct SendId {
    std::uint32_t step{};
    std::uint32_t index{};
  };
  // Appends the sends that may start at once, and those that another one's arrival lets start.
  void begin(std::vector<SendId>& ready);
  void arrived(const SendId& id, std::vector<SendId>& ready);
  [[nodiscard]] bool is_over() const { return inside_ == 0; }

  // Of one that may start and has not arrived.
  [[nodiscard]] PlacedSend send(const SendId& id) const;
  // Of known sends: where the last place is still in a step that the first one has left by as many
  // steps as there are places.
  [[nodiscard]] static Bytes most_memory(const ProgramSends& sends);

 private:
  // A step that some place has begun and some place has not left.
  struct Step {
    StepSends made;                      // empty where they are known
    std::vector<std::uint32_t> awaited;  // sends of a place or to it that are not through
    Rank inside{};                       // places that have not left it
  };

  [[nodiscard]] Step& step(std::uint32_t number);
  [[nodiscard]] const StepSends& sends_of_open(std::uint32_t number) const {
    return known_ != nullptr ? known_->at(number) : open_[number - first_step_].made;
  }
  void add_step();
  void proceed(Rank place, std::vector<SendId>& ready);
  void proceed_alone(Rank rank, std::vector<SendId>& ready);
  void through(std::uint32_t number, Rank place, std::vector<SendId>& ready);

  struct LoneSends {  // of a rank, that are through; those to it arrive in the order of steps
    std::uint32_t made{};
    std::uint32_t got{};
    std::uint32_t begun{};
  };

  const Program* program_ = nullptr;
  const ProgramSends* known_ = nullptr;
  Rank places_;
  std::uint32_t steps_;
  std::vector<LoneSends> lone_sends_;    // empty of programs that have others
  std::vector<std::uint32_t> position_;  // steps that a place has begun
  std::deque<Step> open_;
  std::size_t first_step_ = 0;
  Rank inside_;  // places that have not left the last step
};

}  // namespace payoff::sim
