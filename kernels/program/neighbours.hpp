// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/program/benchmark.hpp"
#include "kernels/program/together.hpp"

// Kernels beside each other: what runs at once, and how fast each is then and alone, in the same
// kind of queue.

namespace payoff::kernels {

enum class Role { compute, codec, message, copies };
[[nodiscard]] std::string_view name(Role role);

struct Neighbour {
  Benchmark benchmark;
  Role role{};
  std::size_t units_held{};  // by a message
  std::size_t blocks{};      // of a kernel whose blocks fill a multiprocessor each; 0: not known
};
// At most one of each role.
using Neighbours = std::vector<Neighbour>;

// "gemm m=4096 beside quantize_group elements=1048576"
[[nodiscard]] std::string title_of(const Neighbours& neighbours);

struct MeasuredNeighbour {
  Neighbour of;
  Seconds alone{};  // of one run
  Seconds together{};
};
struct MeasuredNeighbours {
  Seconds window{};
  std::vector<MeasuredNeighbour> members;
};

// How it is queued: a message comes first.
[[nodiscard]] QueuedWork queued(const Neighbour& neighbour, const Work& work, unsigned runs_a_part);

// Throws where no steady state was reached.
class NeighbourMeter {
 public:
  [[nodiscard]] MeasuredNeighbours measure(const Neighbours& neighbours);

 private:
  struct Alone {
    std::string title;
    Seconds time{};
    unsigned runs_a_part{};
  };
  const Alone& alone(const Neighbour& neighbour, const Work& work);

  std::vector<Alone> known_;
};

// Of one of them: three queues alone, one together.
inline constexpr Seconds longest_of_neighbours = 600_ms;

}  // namespace payoff::kernels
