// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "sim/engine.hpp"
#include "tests/catch.hpp"
#include "tests/sim/random.hpp"
#include "tests/sim/reference_filling.hpp"

namespace payoff::sim {
namespace {

struct Flow {
  double begin = 0.0;    // s, when it is started
  double latency = 0.0;  // s
  double bytes = 0.0;
  reference::Flow needs;
};

struct Scenario {
  std::vector<reference::Constraint> links;
  std::vector<Flow> flows;
};

// Dates are whole microseconds, from few of them: much happens at once.
Scenario random_scenario(Random& random) {
  Scenario scenario;
  const std::uint32_t links = random.between(1, 5);
  for (std::uint32_t i = 0; i < links; ++i) {
    scenario.links.push_back({1e9 * random.between(1, 8), random.chance(0.15)});
  }
  const std::uint32_t flows = random.between(1, 15);
  for (std::uint32_t i = 0; i < flows; ++i) {
    Flow flow;
    flow.begin = 1e-6 * random.below(20) * 50;
    flow.latency = 1e-6 * random.below(4) * 100;
    flow.bytes = 1e3 * random.between(1, 1000);
    flow.needs.usage.resize(links, 0.0);
    for (std::uint32_t link = 0; link < links; ++link) {
      flow.needs.usage[link] = random.chance(0.4) ? 0.5 * random.between(1, 4) : 0.0;
    }
    flow.needs.usage[random.below(links)] = 1.0;
    flow.needs.share = random.between(1, 3);
    if (random.chance(0.3)) {
      flow.needs.bound = 1e8 * random.between(1, 20);
    }
    scenario.flows.push_back(flow);
  }
  return scenario;
}

// Everything recomputed at every event, in floating point. The date at which each flow ends.
std::vector<double> ends_by_reference(const Scenario& scenario) {
  const std::size_t count = scenario.flows.size();
  std::vector<double> left;
  for (const Flow& flow : scenario.flows) {
    left.push_back(flow.bytes);
  }
  std::vector<double> ends(count, -1.0);
  double now = 0.0;
  for (;;) {
    std::vector<std::size_t> active;
    std::vector<reference::Flow> needs;
    double next = 1e300;
    for (std::size_t f = 0; f < count; ++f) {
      const double join = scenario.flows[f].begin + scenario.flows[f].latency;
      if (ends[f] < 0.0 && join <= now + 1e-13) {
        active.push_back(f);
        needs.push_back(scenario.flows[f].needs);
      } else if (ends[f] < 0.0) {
        next = std::min(next, join);
      }
    }
    const std::vector<double> rates = reference::fill(scenario.links, needs);
    for (std::size_t i = 0; i < active.size(); ++i) {
      next = std::min(next, now + left[active[i]] / rates[i]);
    }
    if (next == 1e300) {
      return ends;
    }
    for (std::size_t i = 0; i < active.size(); ++i) {
      left[active[i]] -= rates[i] * (next - now);
      if (left[active[i]] <= 1e-4) {
        ends[active[i]] = next;
      }
    }
    now = next;
  }
}

constexpr std::uint64_t alarm_key = 1;

// `order` is that in which flows that begin at one date are started; `look` asks for rates and
// progress at every date, which must change nothing.
std::vector<SimTime> ends_by_engine(const Scenario& scenario, const std::vector<std::size_t>& order,
                                    bool look = false) {
  Engine engine;
  std::vector<ResourceId> links;
  for (const reference::Constraint& link : scenario.links) {
    links.push_back(engine.add_resource(
        {{link.capacity}, link.fat_pipe ? Sharing::fat_pipe : Sharing::shared}));
  }
  for (std::size_t position = 0; position < order.size(); ++position) {
    const Flow& flow = scenario.flows[order[position]];
    engine.wake_at(*to_sim_time({flow.begin}), alarm_key, position);
  }
  std::vector<SimTime> ends(order.size());
  std::vector<ActivityId> running;
  while (engine.advance()) {
    for (const Completion& done : engine.completed()) {
      if (done.key != alarm_key) {
        ends[done.tag] = engine.now();
        continue;
      }
      const Flow& flow = scenario.flows[order[done.tag]];
      std::vector<Use> uses;
      for (std::size_t link = 0; link < links.size(); ++link) {
        if (flow.needs.usage[link] > 0.0) {
          uses.push_back({links[link], flow.needs.usage[link]});
        }
      }
      running.push_back(engine.start(
          {.size = {flow.bytes},
           .uses = uses,
           .rate_bound = flow.needs.bound < 1e300 ? Bandwidth{flow.needs.bound} : no_rate_bound,
           .share_ratio = flow.needs.share,
           .latency = *to_sim_time({flow.latency}),
           .tag = order[done.tag]}));
    }
    for (const ActivityId id : running) {
      if (look && engine.is_running(id)) {
        static_cast<void>(engine.rate(id));
        REQUIRE(engine.bytes_left(id) > 0_B);
      }
    }
  }
  return ends;
}

std::vector<std::size_t> in_order(const Scenario& scenario) {
  std::vector<std::size_t> order(scenario.flows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

TEST_CASE("completion dates agree with a simulation that recomputes everything, 1,000 times") {
  Random random(21);
  for (int i = 0; i < 1'000; ++i) {
    const Scenario scenario = random_scenario(random);
    const std::vector<double> expected = ends_by_reference(scenario);
    const std::vector<SimTime> ends = ends_by_engine(scenario, in_order(scenario));
    for (std::size_t f = 0; f < ends.size(); ++f) {
      INFO("scenario " << i << ", flow " << f);
      REQUIRE(std::abs(to_seconds(ends[f]).si - expected[f]) <= 1e-9 * expected[f] + 20e-12);
    }
  }
}

TEST_CASE("the order of starts at one date, and looking, change no date by a picosecond") {
  Random random(22);
  for (int i = 0; i < 200; ++i) {
    const Scenario scenario = random_scenario(random);
    std::vector<std::size_t> order = in_order(scenario);
    const std::vector<SimTime> ends = ends_by_engine(scenario, order);
    REQUIRE(ends_by_engine(scenario, order, true) == ends);
    std::reverse(order.begin(), order.end());
    REQUIRE(ends_by_engine(scenario, order) == ends);
  }
}

// A ring of sends in whole numbers only. The value is the same with every compiler and at every
// level of optimisation; it changes when dates, keys or their order do.
TEST_CASE("a run has one trace hash on every compiler") {
  Engine engine;
  std::vector<Use> links;
  for (std::uint32_t rank = 0; rank < 16; ++rank) {
    links.push_back({engine.add_resource({Bandwidth{1e9 + 1e7 * (rank * rank % 7)}})});
  }
  const auto send = [&](std::uint64_t rank, std::uint64_t round) {
    const Use uses[] = {links[rank], links[(rank + round) % 16]};
    engine.start({.size = {1000.0 + static_cast<double>(rank)},
                  .uses = uses,
                  .latency = {1000},
                  .key = round,
                  .tag = rank + 16 * round});
  };
  for (std::uint64_t rank = 0; rank < 16; ++rank) {
    send(rank, 0);
  }
  while (engine.advance()) {
    for (const Completion& done : engine.completed()) {
      if (done.key < 30) {
        send((done.tag + 1) % 16, done.key + 1);
      }
    }
  }
  CHECK(engine.completed_count() == 16 * 31);
  CHECK(engine.trace_hash() == 0x1ac2bbd6d95e2082ULL);
}

TEST_CASE("what was cancelled never completes, and its bandwidth goes to the others") {
  // Two share 1 GB/s. One is cancelled at 1 ms; the other has moved 0.5 MB of 2 MB, and needs
  // 1.5 ms more.
  Engine engine;
  const Use link[] = {{engine.add_resource({1_GBps})}};
  const ActivityId cancelled = engine.start({.size = 2_MB, .uses = link, .tag = 1});
  const ActivityId other = engine.start({.size = 2_MB, .uses = link, .tag = 2});
  engine.wake_at({1'000'000'000}, 0, 3);
  REQUIRE(engine.advance());
  CHECK(engine.bytes_left(other) == 1.5_MB);
  CHECK(engine.rate(other) == 0.5_GBps);
  CHECK(engine.cancel(cancelled));
  CHECK_FALSE(engine.cancel(cancelled));
  CHECK(engine.rate(other) == 1_GBps);
  REQUIRE(engine.advance());
  CHECK(engine.now() == SimTime{2'500'000'000});
  CHECK_FALSE(engine.is_running(other));
  CHECK_FALSE(engine.advance());
  CHECK(engine.running_count() == 0);
}

TEST_CASE("a changed capacity or bound holds from its date on, and progress is kept") {
  // 1 GB/s for 1 ms, 0.5 GB/s for 1 ms, then bounded to 0.25 GB/s: 2 MB - 1.5 MB take 2 ms more.
  Engine engine;
  const ResourceId link = engine.add_resource({1_GBps});
  const Use uses[] = {{link}};
  const ActivityId send = engine.start({.size = 2_MB, .uses = uses, .tag = 1});
  engine.wake_at({1'000'000'000}, 0, 2);
  engine.wake_at({2'000'000'000}, 0, 3);
  REQUIRE(engine.advance());
  engine.set_capacity(link, 0.5_GBps);
  REQUIRE(engine.advance());
  engine.set_rate_bound(send, 0.25_GBps);
  REQUIRE(engine.advance());
  CHECK(engine.completed().front().tag == 1);
  CHECK(engine.now() == SimTime{4'000'000'000});
}

}  // namespace
}  // namespace payoff::sim
