// SPDX-License-Identifier: Apache-2.0

// A ring all-reduce with every send an event: 2 N (N - 1) sends, each with a latency and a share of
// its link. Once with equal links, where all ranks move together, and once with random ones, where
// hardly two dates are equal. The baseline, in the same run, is the bare event loop that one would
// write for this one case: a std::priority_queue, and nothing to share.
//
// There are 2 N (N - 1) sends, so that time may grow with N^2 and no faster: the exponent between
// two sizes of one run is printed.
//
//   ring_bench [RANKS...]      64, 512, 1024 and 4096 ranks unless told otherwise

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <queue>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/ring.hpp"

namespace {

using namespace payoff;
using namespace payoff::sim;
using namespace payoff::sim::bench;

RingRun run_bare(const Ring& ring) {
  const Stopwatch watch;
  struct Event {
    std::int64_t date;
    std::uint32_t rank;
    bool operator<(const Event& other) const { return date > other.date; }
  };
  std::priority_queue<Event> events;
  std::vector<std::int64_t> duration;
  duration.reserve(ring.links.size());
  for (const Bandwidth link : ring.links) {
    duration.push_back(
        (ring.latency + time_to_do(*to_work(ring.chunk), *to_rate(link))).picoseconds);
  }
  std::int64_t now = 0;
  std::uint64_t sends = 0;
  const auto send = [&](std::uint32_t rank) { events.push({now + duration[rank], rank}); };
  Progress progress(ring);
  for (std::uint32_t rank = 0; rank < ring.ranks(); ++rank) {
    send(rank);
  }
  while (!events.empty()) {
    const Event event = events.top();
    events.pop();
    now = event.date;
    ++sends;
    progress.sent(event.rank, send);
  }
  return {{now}, sends, watch.elapsed()};
}

std::string peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) {
      return fmt::format("{:.1f} MB", std::strtod(line.c_str() + 6, nullptr) / 1024.0);
    }
  }
  return "unknown";
}

// The exponent of the growth since the size before; nothing for the first.
std::string growth(Seconds time, std::size_t ranks, Seconds before, std::size_t ranks_before) {
  return ranks_before == 0 || ranks == ranks_before
             ? ""
             : fmt::format("N^{:.2f}",
                           std::log(time / before) / std::log(static_cast<double>(ranks) /
                                                              static_cast<double>(ranks_before)));
}

struct Runs {
  RingRun engine;
  RingRun program;
};

Runs measure(const char* title, const Ring& ring, const Runs& before, std::size_t ranks_before) {
  const RingRun bare = run_bare(ring);
  const RingRun engine = run_engine(ring);
  if (bare.end != engine.end || bare.sends != engine.sends) {
    fmt::print(stderr, "error: the engine ends at {} ps, the bare loop at {} ps\n",
               engine.end.picoseconds, bare.end.picoseconds);
    std::exit(1);
  }
  const RingRun program = run_program(ring);
  const double apart = std::abs(to_seconds(program.end) / to_seconds(engine.end) - 1);
  if (program.sends != engine.sends || apart > 1e-6) {
    fmt::print(stderr, "error: the program has {} sends, and ends {:.1g} apart\n", program.sends,
               apart);
    std::exit(1);
  }
  fmt::print(
      "{:<7} {:>6} {:>10} {:>9.3f} {:>9.1f} {:>7} {:>9.2f}x {:>11.3f} {:>7}", title, ring.ranks(),
      engine.sends, engine.time.si, engine.time.si / static_cast<double>(engine.sends) * 1e9,
      growth(engine.time, ring.ranks(), before.engine.time, ranks_before), engine.time / bare.time,
      program.time.si, growth(program.time, ring.ranks(), before.program.time, ranks_before));
  return {engine, program};
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::size_t> sizes;
  for (int i = 1; i < argc; ++i) {
    sizes.push_back(std::strtoul(argv[i], nullptr, 10));
    if (sizes.back() < 2) {
      fmt::print(stderr, "error: a ring has at least two ranks\n");
      return 2;
    }
  }
  if (sizes.empty()) {
    sizes = {64, 512, 1024, 4096};
  }
  fmt::print("{:<7} {:>6} {:>10} {:>9} {:>9} {:>7} {:>10} {:>11} {:>7}\n", "links", "ranks",
             "sends", "time [s]", "ns/send", "growth", "bare loop", "program [s]", "growth");
  std::size_t ranks_before = 0;
  Runs equal;
  Runs random;
  for (const std::size_t ranks : sizes) {
    equal = measure("equal", ring_of(ranks, false), equal, ranks_before);
    fmt::print("\n");
    random = measure("random", ring_of(ranks, true), random, ranks_before);
    fmt::print("   {:.2f}x equal links, program {:.2f}x\n", random.engine.time / equal.engine.time,
               random.program.time / equal.program.time);
    ranks_before = ranks;
  }
  fmt::print("peak memory {}\n", peak_memory());
  return 0;
}
