// SPDX-License-Identifier: Apache-2.0

// The ring all-reduce of ring_bench in SimGrid (Debian's package) and in payoff's engine, in one
// run: 2 N (N - 1) sends, equal and random links. SimGrid runs its model CM02 without what it adds
// for TCP, as in tests/sim/oracle, but with its default network/optim, which is the faster one. A
// process can start SimGrid once, so each ring has one of its own.
//
//   simgrid_ring_bench [equal|random] [RANKS...]
//
// Both kinds of links, and 64, 512 and 1024 ranks, unless told otherwise.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <simgrid/s4u.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/ring.hpp"

namespace {

using namespace payoff;
using namespace payoff::sim;
using namespace payoff::sim::bench;
namespace s4u = simgrid::s4u;

// Sends to the next rank and receives from the one before, round after round.
void rank_actor(s4u::Mailbox* own, s4u::Mailbox* next, std::uint32_t rounds, std::uint64_t bytes) {
  static int chunk = 0;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const s4u::CommPtr sent = next->put_async(&chunk, bytes);
    (void)own->get<int>();
    sent->wait();
  }
}

RingRun run_simgrid(const Ring& ring) {
  const Stopwatch watch;
  std::array<std::string, 2> words{"simgrid_ring_bench", "--log=xbt_cfg.thres:warning"};
  std::array<char*, 2> argv{words[0].data(), words[1].data()};
  int argc = static_cast<int>(argv.size());
  const s4u::Engine engine(&argc, argv.data());
  for (const char* option :
       {"network/model:CM02", "network/TCP-gamma:0", "network/latency-factor:1",
        "network/bandwidth-factor:1", "network/weight-S:0", "network/crosstraffic:0",
        "contexts/stack-size:64"}) {
    s4u::Engine::set_config(option);
  }
  s4u::NetZone* zone = s4u::create_full_zone("ring");
  const std::size_t ranks = ring.ranks();
  std::vector<s4u::Host*> hosts;
  for (std::size_t r = 0; r < ranks; ++r) {
    hosts.push_back(zone->create_host("rank" + std::to_string(r), 1e9)->seal());
  }
  for (std::size_t r = 0; r < ranks; ++r) {
    s4u::Link* link = zone->create_link("link" + std::to_string(r), ring.links[r].si);
    link->set_latency(to_seconds(ring.latency).si)->seal();
    zone->add_route(hosts[r]->get_netpoint(), hosts[(r + 1) % ranks]->get_netpoint(), nullptr,
                    nullptr, {s4u::LinkInRoute(link)}, false);
  }
  zone->seal();
  const auto bytes = static_cast<std::uint64_t>(ring.chunk.si);
  for (std::size_t r = 0; r < ranks; ++r) {
    s4u::Actor::create("rank", hosts[r], rank_actor, s4u::Mailbox::by_name(std::to_string(r)),
                       s4u::Mailbox::by_name(std::to_string((r + 1) % ranks)), ring.rounds(),
                       bytes);
  }
  engine.run();
  return {to_sim_time({s4u::Engine::get_clock()}).value_or(never),
          static_cast<std::uint64_t>(ranks) * ring.rounds(), watch.elapsed()};
}

void compare(std::size_t ranks, bool random) {
  const Ring ring = ring_of(ranks, random);
  const RingRun ours = run_engine(ring);
  const RingRun theirs = run_simgrid(ring);
  const double apart = std::abs(to_seconds(theirs.end) / to_seconds(ours.end) - 1);
  fmt::print("{:<7} {:>6} {:>9} {:>10.3f} {:>12.3f} {:>8.0f}x {:>16.1g}\n",
             random ? "random" : "equal", ranks, ours.sends, ours.time.si, theirs.time.si,
             theirs.time / ours.time, apart);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::size_t> sizes;
  std::vector<bool> kinds = {false, true};  // whether links are random
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "equal" || word == "random") {
      kinds = {word == "random"};
      continue;
    }
    sizes.push_back(std::strtoul(argv[i], nullptr, 10));
  }
  if (sizes.empty()) {
    sizes = {64, 512, 1024};
  }
  fmt::print("{:<7} {:>6} {:>9} {:>10} {:>12} {:>9} {:>16}\n", "links", "ranks", "sends",
             "payoff [s]", "SimGrid [s]", "", "dates differ by");
  std::fflush(stdout);
  for (const std::size_t ranks : sizes) {
    for (const bool random : kinds) {
      const pid_t child = fork();
      if (child == 0) {
        compare(ranks, random);
        std::_Exit(0);
      }
      int status = 0;
      if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        fmt::print(stderr, "error: SimGrid did not end\n");
        return 1;
      }
    }
  }
  return 0;
}
