// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/units.hpp"
#include "sim/program.hpp"
#include "sim/routing.hpp"

// A collective at level `steps`: every send of its program is a flow. It pays its latency, then
// shares the links of its route with all others, and is never faster than its price allows. The
// price of a collective is spread over its sends, so that a program of equal steps that meets
// nobody takes exactly its price; without one, latencies and links alone decide (alpha-beta).

namespace payoff::sim {

// What a rank sends in one step takes `latency` and its bytes at `of_rank`, all sends together.
// Where segments follow one another through the same sends, `of_rank` is the whole buffer's, and
// every send has as much of it as the buffer passes through it.
struct SendPrice {
  Seconds latency{};
  std::optional<Bandwidth> of_rank;
};
// Steps that follow each other at one price.
struct PhasePrice {
  std::uint32_t steps{};
  SendPrice price;
};

// The share of the size that the busiest rank sends, step by step, summed: 2 (n - 1) / n of a ring.
// With segments a send in every step takes as long: the number of steps in segments.
[[nodiscard]] double busiest_share(const Program& program);

// Of a collective that takes `time` alone, `latency` of it whatever the size (or a millionth less
// than all, so that bytes have a rate).
[[nodiscard]] SendPrice send_price(const Program& program, Bytes size, Seconds time,
                                   Seconds latency);
// The same of some of its steps.
[[nodiscard]] PhasePrice phase_price(const Program& program, std::uint32_t first,
                                     std::uint32_t steps, Bytes size, Seconds time,
                                     Seconds latency);

struct ProgramRun {
  Seconds time{};
  bool beyond_clock{};  // not through after 106 days: the time is when the last send before was
  std::uint64_t sends{};
  std::vector<Bytes> edge_bytes;  // by edge of the graph
  std::uint64_t trace_hash{};
};

// Without a routing nothing is shared, and the price needs a bandwidth. With one, its graph has a
// rank for every place of the program.
[[nodiscard]] ProgramRun run(const Program& program, Bytes size, const SendPrice& price,
                             Routing* routing = nullptr);
// What the links of a routing's graph carry instead of their capacities, by edge; none: those.
using LinkCapacities = std::span<const Bandwidth>;
// Phases that are all steps together.
[[nodiscard]] ProgramRun run_phases(const Program& program, Bytes size,
                                    std::span<const PhasePrice> phases, Routing* routing = nullptr,
                                    LinkCapacities left = {});

}  // namespace payoff::sim
