// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/program.hpp"

// How far a running program has come: which of its sends may start. A rank makes those of a step
// when all that was sent to it in earlier steps has arrived and what it sent itself is through.
// Steps are made when the first rank comes to them, and forgotten when the last one has left. Where
// every rank makes one send a step and gets one, always from the same rank, no step is kept: how
// many a rank has made and got says all.

namespace payoff::sim {

class ProgramProgress {
 public:
  // The program has to outlive this.
  explicit ProgramProgress(const Program& program);

  struct SendId {
    std::uint32_t step{};
    std::uint32_t index{};
  };
  // Appends the sends that may start at once, and those that another one's arrival lets start.
  void begin(std::vector<SendId>& ready);
  void arrived(const SendId& id, std::vector<SendId>& ready);
  [[nodiscard]] bool is_over() const { return inside_ == 0; }

  // Of one that may start and has not arrived.
  [[nodiscard]] Send send(const SendId& id) const;
  // Of a program that makes so many sends: where the last rank is still in a step that the first
  // one has left by as many steps as there are places.
  [[nodiscard]] static Bytes most_memory(const Program& program, std::uint64_t sends);
  // How much of what its rank may send at once it has.
  [[nodiscard]] double part_of_rank(const SendId& id) const;

 private:
  // A step that some rank has begun and some rank has not left.
  struct Step {
    std::vector<Send> sends;           // by sender
    std::vector<std::uint32_t> first;  // of a rank
    std::vector<double> share_of_rank;
    std::vector<std::uint32_t> awaited;  // sends of a rank or to it that are not through
    Rank inside{};                       // ranks that have not left it
  };

  [[nodiscard]] Step& step(std::uint32_t number);
  [[nodiscard]] const Step& open_step(std::uint32_t number) const {
    return open_[number - first_step_];
  }
  void add_step();
  void add_sends(Step& step);
  void proceed(Rank rank, std::vector<SendId>& ready);
  void proceed_alone(Rank rank, std::vector<SendId>& ready);
  void through(std::uint32_t number, Rank rank, std::vector<SendId>& ready);

  struct LoneSends {  // of a rank, that are through; those to it arrive in the order of steps
    std::uint32_t made{};
    std::uint32_t got{};
    std::uint32_t begun{};
  };

  const Program* program_;
  std::vector<LoneSends> lone_sends_;    // empty of programs that have others
  std::vector<std::uint32_t> position_;  // steps that a rank has begun
  std::deque<Step> open_;
  std::size_t first_step_ = 0;
  Rank inside_;  // ranks that have not left the last step
};

// Of the size, by rank, what it sends together.
[[nodiscard]] std::vector<double> shares_of_ranks(const Program& program,
                                                  const std::vector<Send>& sends);

}  // namespace payoff::sim
