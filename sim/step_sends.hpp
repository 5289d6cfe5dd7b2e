// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <list>

#include "model/schedule.hpp"
#include "sim/links.hpp"
#include "sim/path.hpp"
#include "sim/place.hpp"
#include "sim/trace.hpp"

// What stages of a pipeline send each other.

namespace payoff::sim {

// Input of an operation on its way from one place to another.
struct StageSend {
  std::size_t from{};
  std::size_t to{};
  Operation operation;  // of the receiver
  const PreparedMessage* message{};
  Path path;
  SimTime since;
};

// What a place sends one of its neighbours: one at a time (model/stage_sends.hpp), the first one is
// in flight. A list, as most are empty and some (gpipe) may hold a whole step of sends.
using Outbox = std::list<StageSend>;

// One that ends at `now`.
[[nodiscard]] TraceSpan span_of(const StageSend& send, Direction toward, const Places& places,
                                std::size_t stages, SimTime now);

}  // namespace payoff::sim
