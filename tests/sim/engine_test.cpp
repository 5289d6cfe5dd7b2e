// SPDX-License-Identifier: Apache-2.0
#include "sim/engine.hpp"

#include <utility>
#include <vector>

#include "tests/catch.hpp"

namespace payoff::sim {
namespace {

// Everything that happens until nothing is left: (picosecond, tag).
std::vector<std::pair<std::int64_t, std::uint64_t>> history_of(Engine& engine) {
  std::vector<std::pair<std::int64_t, std::uint64_t>> history;
  while (engine.advance()) {
    for (const Completion& done : engine.completed()) {
      history.emplace_back(engine.now().picoseconds, done.tag);
    }
  }
  return history;
}

using History = std::vector<std::pair<std::int64_t, std::uint64_t>>;

TEST_CASE("a send alone takes its latency and then its size over the capacity") {
  Engine engine;
  const Use link[] = {{engine.add_resource({1_GBps})}};
  engine.start({.size = 1_MB, .uses = link, .latency = {5'000'000}, .tag = 7});
  // 5 us of latency, 1 MB / 1 GB/s = 1 ms.
  CHECK(history_of(engine) == History{{1'005'000'000, 7}});
}

TEST_CASE("latency uses no bandwidth") {
  // A and B share 1 GB/s. A starts at once; B pays 1 ms first. A has 1 MB: done at 1 ms, alone all
  // the time. B has 1 MB: from 1 ms to 2 ms.
  Engine engine;
  const Use link[] = {{engine.add_resource({1_GBps})}};
  engine.start({.size = 1_MB, .uses = link, .tag = 1});
  engine.start({.size = 1_MB, .uses = link, .latency = {1'000'000'000}, .tag = 2});
  CHECK(history_of(engine) == History{{1'000'000'000, 1}, {2'000'000'000, 2}});
}

TEST_CASE("sends that overlap share the bandwidth while they overlap, whoever is latent") {
  // B starts 0.5 ms after A on the same 1 GB/s. A has 0.5 MB left then, at half the rate: 1 ms
  // more. B has 0.5 MB left at 1.5 ms, alone: 2 ms.
  const auto latency_of_a = GENERATE(as<std::int64_t>{}, 0, 250'000'000, 2'000'000'000);
  Engine engine;
  const Use link[] = {{engine.add_resource({1_GBps})}};
  engine.start({.size = 1_MB, .uses = link, .latency = {latency_of_a}, .tag = 1});
  engine.start({.size = 1_MB, .uses = link, .latency = {latency_of_a + 500'000'000}, .tag = 2});
  CHECK(history_of(engine) ==
        History{{latency_of_a + 1'500'000'000, 1}, {latency_of_a + 2'000'000'000, 2}});
}

TEST_CASE("one that shares nothing yet is slowed by who comes while it is latent") {
  // A is latent until 2 ms. B has no latency and 1 MB, and is through before. C begins at 3 ms,
  // when A has 1 MB of its 2 MB left: both at half the rate, so A ends at 5 ms, and C with 1 MB
  // too.
  Engine engine;
  const Use link[] = {{engine.add_resource({1_GBps})}};
  engine.start({.size = 2_MB, .uses = link, .latency = {2'000'000'000}, .tag = 1});
  engine.start({.size = 1_MB, .uses = link, .tag = 2});
  engine.start({.size = 1_MB, .uses = link, .latency = {3'000'000'000}, .tag = 3});
  CHECK(history_of(engine) == History{{1'000'000'000, 2}, {5'000'000'000, 1}, {5'000'000'000, 3}});
}

TEST_CASE("completions of one picosecond come by key, then by tag") {
  Engine engine;
  engine.wake_at({5}, 2, 1);
  engine.wake_at({5}, 1, 9);
  engine.wake_at({5}, 1, 8);
  CHECK(history_of(engine) == History{{5, 8}, {5, 9}, {5, 1}});
}

TEST_CASE("what ends beyond the clock is a problem, after all that does not") {
  Engine engine;
  const Use link[] = {{engine.add_resource({Bandwidth{1.0}})}};
  engine.start({.size = 9223373_B, .uses = link, .tag = 1});  // 9,223,372.04 s is the range
  engine.wake_at({10}, 0, 2);
  CHECK(history_of(engine) == History{{10, 2}});
  REQUIRE(engine.problem().has_value());
  CHECK_THAT(engine.problem()->message, Catch::Matchers::ContainsSubstring("106 days"));
}

}  // namespace
}  // namespace payoff::sim
