// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine.hpp"
#include "sim/program_run.hpp"

// A ring all-reduce with every send an event, as payoff's engine runs it: the case that benchmarks
// compare.

namespace payoff::sim::bench {

// Processor time: others may be busy on the machine.
class Stopwatch {
 public:
  [[nodiscard]] Seconds elapsed() const {
    return {static_cast<double>(std::clock() - start_) / static_cast<double>(CLOCKS_PER_SEC)};
  }

 private:
  std::clock_t start_ = std::clock();
};

struct Ring {
  std::vector<Bandwidth> links;  // of each rank to the next
  SimTime latency{5'000'000};
  Bytes chunk;

  [[nodiscard]] std::size_t ranks() const { return links.size(); }
  [[nodiscard]] std::uint32_t rounds() const {
    return static_cast<std::uint32_t>(2 * (links.size() - 1));
  }
};

struct RingRun {
  SimTime end;
  std::uint64_t sends = 0;
  Seconds time;
};

// Which rank may send next. A rank sends one chunk after the other, each after it was received.
class Progress {
 public:
  explicit Progress(const Ring& ring) : sent_(ring.ranks(), 0), rounds_(ring.rounds()) {}

  // Calls `send` for whoever may begin now that a rank has sent a chunk.
  template <class Send>
  void sent(std::uint32_t rank, Send&& send) {
    const std::uint32_t next = rank + 1 == sent_.size() ? 0 : rank + 1;
    const std::uint32_t previous =
        rank == 0 ? static_cast<std::uint32_t>(sent_.size()) - 1 : rank - 1;
    const std::uint32_t count = ++sent_[rank];
    if (count < rounds_ && sent_[previous] >= count) {
      send(rank);
    }
    if (sent_[next] == count && count < rounds_) {  // was waiting for this chunk
      send(next);
    }
  }

 private:
  std::vector<std::uint32_t> sent_;
  std::uint32_t rounds_;
};

inline RingRun run_engine(const Ring& ring) {
  const Stopwatch watch;
  Engine engine;
  std::vector<Use> link_of_rank;
  link_of_rank.reserve(ring.links.size());
  for (const Bandwidth link : ring.links) {
    link_of_rank.push_back({engine.add_resource({link})});
  }
  const auto send = [&](std::uint32_t rank) {
    engine.start({.size = ring.chunk,
                  .uses = {&link_of_rank[rank], 1},
                  .latency = ring.latency,
                  .tag = rank});
  };
  Progress progress(ring);
  for (std::uint32_t rank = 0; rank < ring.ranks(); ++rank) {
    send(rank);
  }
  while (engine.advance()) {
    for (const Completion& done : engine.completed()) {
      progress.sent(static_cast<std::uint32_t>(done.tag), send);
    }
  }
  return {engine.now(), engine.completed_count(), watch.elapsed()};
}

// The same ring as the program of a collective on a graph of links, as `payoff collective --level
// steps` runs it.
inline RingRun run_program(const Ring& ring) {
  const Stopwatch watch;
  const auto ranks = static_cast<Rank>(ring.ranks());
  TopologyGraph graph;
  std::vector<Vertex> vertices;
  std::vector<Edge> edges;
  std::vector<VertexId> gpus;
  for (Rank rank = 0; rank < ranks; ++rank) {
    const Rank next = (rank + 1) % ranks;
    vertices.push_back({"gpu" + std::to_string(rank), GraphVertexKind::gpu});
    edges.push_back({rank, next, ring.links[rank], to_seconds(ring.latency), LinkClass::fabric});
    gpus.push_back(rank);
    graph.routes.push_back({rank, next});
  }
  graph.links = LinkGraph(std::move(vertices), std::move(edges), gpus);
  graph.gpu_of_rank = std::move(gpus);
  Routing routing(graph, Balance::hashed, 1);
  const Program program(RingProgram{ranks});
  const ProgramRun done = run(program, ring.chunk * static_cast<double>(ranks), {}, &routing);
  return {to_sim_time(done.time).value_or(never), done.sends, watch.elapsed()};
}

inline Ring ring_of(std::size_t ranks, bool random) {
  Ring ring{.links = std::vector<Bandwidth>(ranks, 50_GBps), .chunk = 1_MiB};
  std::mt19937_64 numbers(1);
  for (Bandwidth& link : ring.links) {
    if (random) {
      link = 25_GBps + static_cast<double>(numbers() >> 11U) * 0x1p-53 * 50_GBps;
    }
  }
  return ring;
}

}  // namespace payoff::sim::bench
