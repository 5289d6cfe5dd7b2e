// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/engine.hpp"
#include "sim/platform.hpp"

// Messages as activities over the links of a platform. A collective is fluid: from its start it
// moves at most as fast as its price says, slower where links are shared. A send pays its latency
// first. Progress is counted in picoseconds of time alone, so that a message that meets nobody
// takes its price to the picosecond, whatever its bytes.

namespace payoff::sim {

// Progress of one picosecond is 1/64 byte at this rate: whole steps of the engine's grid.
inline constexpr Bandwidth full_rate{1e12 / 64};
[[nodiscard]] constexpr Bytes progress(SimTime alone) {
  return {static_cast<double>(alone.picoseconds) / 64};
}

struct PreparedMessage {
  const Message* message{};
  SimTime alone;
  SimTime latency;
  std::vector<Use> uses;
  std::vector<LinkLoad> loads;
  double share_ratio = 1;
};

struct LinkUse {
  std::string name;
  Bandwidth capacity;
  Bytes bytes;             // through it in the step
  double utilization;      // of what it could carry in the step
  Seconds max_delay;       // of the message that it made latest: folding does not change it
  std::string_view key{};  // of the experiment that says how wide it is
};

class Links {
 public:
  Links(Engine& engine, const Platform& platform);

  [[nodiscard]] PreparedMessage prepare(const Message& message, std::size_t stage,
                                        Direction direction) const;
  // One send of a program, its latency and what its bytes take alone; the loads are those of one
  // byte, each as often as it counts. Narrower links than that make it late.
  void prepare_send(Seconds latency, Seconds moving, Bytes bytes,
                    const std::vector<LinkLoad>& of_one_byte, PreparedMessage& result) const;
  // A copy between a GPU of a stage and its host, or work of the cores, on what it shares with
  // others there.
  [[nodiscard]] PreparedMessage prepare_on_host(const HostWork& work, SimTime alone,
                                                std::size_t stage, bool by_cores) const;
  ActivityId start(const PreparedMessage& message, std::uint64_t key, std::uint64_t tag);
  // Has to be told of the end of what it started: `since` is when it did, `held_back` what it lost
  // elsewhere. Returns what it lost on its links. Of the links that were overloaded last
  // those are why that were most: a wider one has room left.
  SimTime end(const PreparedMessage& message, SimTime since, SimTime held_back = {});

  [[nodiscard]] std::vector<LinkUse> report(SimTime step) const;

 private:
  struct State {
    ResourceId resource;
    Bytes bytes;
    double demand{};     // of what is in flight, as a share of the capacity
    SimTime changed;     // when that was not yet what it is
    SimTime overloaded;  // the end of the last time when it was asked for more than it has
    double overload{};   // the demand then
    SimTime max_delay;
  };

  [[nodiscard]] double demand(const PreparedMessage& message, const LinkLoad& load) const;
  void note_overload(State& link) const;

  Engine& engine_;
  const Platform& platform_;
  std::vector<State> states_;
};

}  // namespace payoff::sim
