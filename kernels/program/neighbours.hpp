// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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
  double alone_clock{1.0};  // relative to the clock to expect
};
struct MeasuredNeighbours {
  Seconds window{};
  std::vector<MeasuredNeighbour> members;
  double clock{1.0};            // the multiprocessors', while all ran
  double clock_reference{1.0};  // what that is to be held against, as of a point
  Bandwidth copied_before{};    // of a copy that is always the same; zero: none was taken
  Bandwidth copied_after{};
  std::size_t repeats{};  // of this run, because the device drifted or was throttled meanwhile
};

// What stands between the meter and a device: tests have others.
struct NeighbourInstruments {
  std::function<Together(std::span<const QueuedWork>, unsigned)> run;
  std::function<Bandwidth()> copy;  // zero: there is none
  std::function<void(Seconds)> pause;
  std::function<bool()> is_lost;
};

// Beyond this much of a copy's bandwidth the device is another one than before: the times of queues
// alone are taken again, and a run during which it came is repeated.
inline constexpr double most_copy_drift = 0.05;

// How it is queued: a message comes first.
[[nodiscard]] QueuedWork queued(const Neighbour& neighbour, const Work& work, unsigned runs_a_part);

// Throws where no steady state was reached, and where the device did not come to rest.
class NeighbourMeter {
 public:
  explicit NeighbourMeter(NeighbourInstruments instruments)
      : instruments_(std::move(instruments)) {}

  [[nodiscard]] MeasuredNeighbours measure(const Neighbours& neighbours);

 private:
  struct Alone {
    std::string title;
    Seconds time{};
    unsigned runs_a_part{};
    double clock{1.0};
    Bandwidth copied{};  // when it was taken
  };
  struct Steady {
    SteadyState state;
    double clock{1.0};
  };
  [[nodiscard]] Steady steady(std::span<const QueuedWork> works, unsigned count,
                              Seconds shortest) const;
  const Alone& alone(const Neighbour& neighbour, const Work& work, Bandwidth copied);
  [[nodiscard]] MeasuredNeighbours once(const Neighbours& neighbours,
                                        const std::vector<Work>& works);
  [[nodiscard]] bool is_throttled(const std::vector<MeasuredNeighbours>& runs);

  NeighbourInstruments instruments_;
  std::vector<Alone> known_;
  double clock_reference_ = 1.0;
};

// Of one of them: three queues alone, one together.
inline constexpr Seconds longest_of_neighbours = 600_ms;

}  // namespace payoff::kernels
