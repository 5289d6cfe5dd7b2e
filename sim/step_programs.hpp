// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/engine.hpp"
#include "sim/group_programs.hpp"
#include "sim/links.hpp"
#include "sim/program_progress.hpp"

// Messages of a step in flight as the sends of their programs (level `steps`): each pays its part
// of the latency and then shares the links of its route with the sends of all other messages. A
// message is through when its last send is. Of sends that are alike one is made (sim/refinement).

namespace payoff::sim {

class StepPrograms {
 public:
  StepPrograms(const SendNetwork& network, Engine& engine, Links& links);

  // False, and nothing done, where the message has no program. `flight` names it from then on.
  bool start(std::size_t flight, std::size_t group, const Message& message, std::uint64_t key);
  // Of a send that the engine has completed. The flight that it was the last send of.
  std::optional<std::size_t> arrived(std::size_t send);
  // Of its sends, present and to come, as a share of their price's.
  void set_rate(std::size_t flight, double rate);

  [[nodiscard]] std::uint64_t sends() const { return sends_; }  // started so far

  // Of a send in flight over so many links, with what the engine has of it.
  [[nodiscard]] static Bytes memory_of_send(double links);

  static constexpr std::uint64_t tag_bit = std::uint64_t{1} << 61U;

 private:
  struct Prepared {
    const GroupProgram* program{};
    std::vector<SendPrice> prices;  // of the steps
  };
  struct Flight {
    Prepared* prepared{};
    Bytes size;
    std::optional<ProgramProgress> progress;
    std::uint64_t key{};
    double rate = 1;
    std::vector<std::size_t> active;  // sends
  };
  struct InFlight {
    std::size_t flight{};
    ProgramProgress::SendId id;
    PreparedMessage message;
    SimTime since;
    ActivityId activity;
    std::size_t place{};  // in the flight's active ones
  };

  [[nodiscard]] Prepared& prepared(std::size_t group, const Message& message);
  void start_ready(std::size_t flight);
  void start_send(std::size_t flight, const ProgramProgress::SendId& id);
  [[nodiscard]] std::size_t free_send();

  Engine& engine_;
  Links& links_;
  GroupPrograms programs_;
  std::map<std::pair<std::size_t, const Message*>, Prepared> prepared_;  // looked up only
  std::deque<Flight> flights_;                                           // slots are used again
  std::deque<InFlight> in_flight_;
  std::vector<std::size_t> free_sends_;
  std::vector<ProgramProgress::SendId> ready_;
  std::uint64_t sends_ = 0;
};

}  // namespace payoff::sim
