// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "kernels/harness/steady_state.hpp"
#include "kernels/program/benchmark.hpp"

// Several works at once, each in a stream of its own: together_cuda.cu, and machine_emulated.cpp,
// where they run one after the other and times mean nothing.

namespace payoff::kernels {

struct QueuedWork {
  const Work* work{};
  unsigned runs_a_part{1};
  // Its blocks start before those of the others wherever room is found, as the streams are made
  // that frameworks run collectives in.
  bool comes_first{};
};

struct Together {
  std::vector<Timeline> timelines;
  // Of the multiprocessors while they ran, relative to the clock to expect.
  double clock_ratio{1.0};
};

// Queues `parts` parts of each behind one gate, opens it when all are queued, and waits. Ends are
// on one clock. Throws where the gate opened by itself.
[[nodiscard]] Together run_together(std::span<const QueuedWork> works, unsigned parts);

}  // namespace payoff::kernels
