// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/evaluate.hpp"
#include "model/problem.hpp"
#include "model/step_plan.hpp"
#include "sim/links.hpp"
#include "sim/path.hpp"
#include "sim/platform.hpp"

// The simulated evaluator of a step: the same plan as the analytical one (model/evaluate.hpp), run
// by events. START READING HERE. Every place of the platform (sim/place: a GPU of a pipeline stage,
// or all that do the same) runs its operations in the order of model/schedule, piece by piece, with
// three streams (compute, codec, gradient messages), four more where its codec runs on the host
// (copies there and back, cores, messages between hosts), and its sends; rates of the streams
// follow model/interference, messages wait for all ranks of their group (sim/meetings) and share
// the links of the platform. Nothing is laid out in advance: every task is made when it starts.
//
// What the analytical engine does not see is found here: traffic of different kinds on the same
// links. Toward each neighbour a stage sends one message at a time, as there (model/stage_sends).

namespace payoff::sim {

class TraceWriter;

struct SimOptions {
  TraceWriter* trace = nullptr;               // gets every task as it ends
  const std::atomic<bool>* stop = nullptr;    // ends the run at the next event when set
  std::uint64_t event_limit = 2'000'000'000;  // more are refused
  Bytes memory_limit = 16_GB;                 // more is refused
};

struct Estimate {
  std::uint64_t events{};  // of a run that is not stopped, as StepCount has them
  std::uint64_t sends{};   // of them, at level `steps`
  Bytes memory;            // roughly, of the run and of the analytical answer beside it
  Bytes trace;             // roughly, if one is written; it is streamed, and not in the memory
};
[[nodiscard]] Estimate estimate(const StepPlan& plan, const Platform& platform = {});

// What cannot be simulated: no bandwidth, times beyond the clock, too many events, too much memory.
[[nodiscard]] Problems check(const StepPlan& plan, const Platform& platform,
                             const SimOptions& options = {});

// Of one kind of traffic, on the stage that ends last; of sends between stages those that come to
// it, because these are what it waits for.
struct TrafficTime {
  Seconds busy{};     // something of it in flight
  Seconds exposed{};  // nothing computed because of it
  Bytes bytes{};      // message bytes of one GPU
  Seconds waiting{};  // of the exposed time: other ranks had not come to it yet

  [[nodiscard]] Seconds hidden() const { return std::max(0_s, busy + waiting - exposed); }
};

struct SimulatedStep {
  StepPrediction prediction;  // of the stage that ends last; memory is not known here
  std::size_t last_stage{};
  std::vector<Seconds> place_ends;                   // of the places of the platform
  Seconds first_end{};                               // of a rank; the last one's is the step
  Seconds mean_end{};                                // over ranks
  std::array<Seconds, cause_count> critical_path{};  // adds up to the step
  std::uint64_t path_activities{};                   // on it, each rounded to a picosecond
  TrafficTime dp;
  TrafficTime tp;
  TrafficTime cp;
  TrafficTime ep;
  TrafficTime pp;
  std::vector<LinkUse> links;
  // Of each stage: by how much work that uses a GPU's memory made one message late, at most.
  std::vector<Seconds> max_memory_delay;
  std::uint64_t events{};
  std::uint64_t sends{};  // of them, at level `steps`: of the programs of messages
  std::uint64_t trace_hash{};
  bool interrupted{};              // stopped early: everything above is of the part that ran
  std::optional<Problem> problem;  // ran beyond the clock
};

// Requires check() empty.
[[nodiscard]] SimulatedStep simulate(const StepPlan& plan, const Platform& platform,
                                     const SimOptions& options = {});

}  // namespace payoff::sim
