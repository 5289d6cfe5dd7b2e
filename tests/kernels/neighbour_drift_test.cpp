// SPDX-License-Identifier: Apache-2.0
// What is measured beside each other on an invented device that drifts, throttles or is lost.
#include <string>
#include <vector>

#include "kernels/program/session.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using namespace payoff::kernels;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

namespace {

// Any run takes 1 ms alone at full speed, and as many times that as run at once.
struct Device {
  std::vector<double> speeds{1.0};  // of each run of queues, the last one for all that follow
  bool clock_tells{};               // whether what slows it is the clock
  std::size_t runs{};
  std::size_t alone{};
  std::size_t pauses{};
  bool is_lost{};

  [[nodiscard]] double speed() const { return speeds[std::min(runs, speeds.size() - 1)]; }

  [[nodiscard]] Together run(std::span<const QueuedWork> works, unsigned parts) {
    const auto at_once = static_cast<double>(works.size());
    const Seconds time = at_once * 1_ms / speed();
    Together result{{}, clock_tells ? speed() : 1.0};
    for (const QueuedWork& work : works) {
      Timeline timeline{{}, static_cast<double>(work.runs_a_part)};
      for (unsigned part = 1; part <= parts; ++part) {
        timeline.ends.push_back(static_cast<double>(part * work.runs_a_part) * time);
      }
      result.timelines.push_back(timeline);
    }
    ++runs;
    alone += works.size() == 1 ? 1UL : 0UL;
    return result;
  }

  // By a clock that falls a copy of memory hardly slows.
  [[nodiscard]] NeighbourInstruments instruments() {
    return {[this](auto works, unsigned parts) { return run(works, parts); },
            [this] { return (clock_tells ? 1.0 : speed()) * Bandwidth{3e12}; },
            [this](Seconds) { ++pauses; }, [this] { return is_lost; }};
  }
};

Neighbour named(const std::string& kernel, Role role) {
  Benchmark benchmark;
  benchmark.point.kernel = kernel;
  benchmark.make = [] { return Work{[](Stream) {}, {}, {}}; };
  return {benchmark, role};
}

Neighbours pair_with(const std::string& codec) {
  return {named("gemm", Role::compute), named(codec, Role::codec)};
}

// Two of these are for each member alone: few runs first, then a queue.
constexpr std::size_t alone_runs = 2;

}  // namespace

TEST_CASE("on a steady device what runs alone is measured once for all its neighbours") {
  Device device;
  NeighbourMeter meter(device.instruments());
  for (const char* codec : {"first", "second"}) {
    const MeasuredNeighbours found = meter.measure(pair_with(codec));
    CHECK(found.repeats == 0);
    for (const MeasuredNeighbour& member : found.members) {
      CHECK_THAT(member.together / member.alone, WithinRel(2.0, 1e-9));
    }
  }
  CHECK(device.alone == 3 * alone_runs);  // gemm and two codecs
  CHECK(device.pauses == 0);
}

TEST_CASE("what was measured alone is measured again once the copy has drifted") {
  Device device;
  NeighbourMeter meter(device.instruments());
  static_cast<void>(meter.measure(pair_with("codec")));
  device.speeds = {0.97};  // within what copies of a steady device differ by
  static_cast<void>(meter.measure(pair_with("codec")));
  CHECK(device.alone == 2 * alone_runs);
  device.speeds = {0.8};
  const MeasuredNeighbours found = meter.measure(pair_with("codec"));
  CHECK(device.alone == 4 * alone_runs);
  CHECK(found.repeats == 0);
  CHECK_THAT(found.members[0].alone / 1_ms, WithinRel(1.0 / 0.8, 1e-9));
  CHECK_THAT(found.members[0].together / found.members[0].alone, WithinRel(2.0, 1e-9));
  CHECK_THAT(found.copied_before / Bandwidth{1e12}, WithinRel(2.4, 1e-9));
}

TEST_CASE("a run during which the device drifts is repeated, with all of it taken anew") {
  Device device;
  device.speeds = {1.0, 1.0, 1.0, 0.8};  // from the second member's queue alone on
  NeighbourMeter meter(device.instruments());
  const MeasuredNeighbours found = meter.measure(pair_with("codec"));
  CHECK(found.repeats == 1);
  CHECK(device.pauses == 1);
  CHECK(device.alone == 4 * alone_runs);
  for (const MeasuredNeighbour& member : found.members) {
    CHECK_THAT(member.together / member.alone, WithinRel(2.0, 1e-9));
  }
}

TEST_CASE("a throttled run is repeated, and a clock that keeps steady below is marked") {
  Device device;
  device.clock_tells = true;
  device.speeds = {1.0, 1.0, 1.0, 1.0, 0.5, 1.0};  // the run together
  NeighbourMeter once(device.instruments());
  const MeasuredNeighbours recovered = once.measure(pair_with("codec"));
  CHECK(recovered.repeats == 1);
  CHECK(recovered.clock == 1.0);
  CHECK(recovered.clock_reference == 1.0);

  Device capped;
  capped.clock_tells = true;
  capped.speeds = {0.6};
  NeighbourMeter meter(capped.instruments());
  CHECK(meter.measure(pair_with("codec")).repeats == 2);  // three runs that agree
  const MeasuredNeighbours later = meter.measure(pair_with("codec"));
  CHECK(later.repeats == 0);
  CHECK_THAT(later.clock_reference, WithinRel(0.6, 1e-12));
  // The cap goes: what was measured alone below it is no longer of this device.
  capped.speeds = {1.0};
  const MeasuredNeighbours freed = meter.measure(pair_with("new"));
  CHECK(freed.clock_reference == 1.0);
  for (const MeasuredNeighbour& member : freed.members) {
    CHECK_THAT(member.together / member.alone, WithinRel(2.0, 1e-9));
  }
}

TEST_CASE("a cap on the power that a product reaches and a codec does not is no throttling") {
  Device device;
  device.clock_tells = true;
  device.speeds.clear();
  for (int attempt = 0; attempt < 3; ++attempt) {  // the product and the codec alone, both
    device.speeds.insert(device.speeds.end(), {0.6, 0.6, 1.0, 1.0, 0.62});
  }
  NeighbourMeter meter(device.instruments());
  const MeasuredNeighbours found = meter.measure(pair_with("codec"));
  CHECK(found.repeats == 2);
  CHECK(found.clock_reference == 0.6);
  CHECK(found.members[0].alone_clock == 0.6);
  CHECK(found.members[1].alone_clock == 1.0);
}

TEST_CASE("neighbours of a device that never comes to rest are failed and not kept") {
  Device device;
  device.clock_tells = true;
  for (int i = 0; i < 100; ++i) {
    device.speeds.push_back(i % 2 == 0 ? 0.3 : 0.5);
  }
  NeighbourMeter meter(device.instruments());
  CHECK_THROWS_WITH(meter.measure(pair_with("codec")), ContainsSubstring("throttled"));
}

TEST_CASE("once the device is lost the rest is told as not tried") {
  Device device;
  NeighbourInstruments instruments = device.instruments();
  instruments.run = [&](auto works, unsigned parts) {
    device.is_lost = device.runs == 5;  // the first pair is through
    if (device.is_lost) {
      throw std::runtime_error("an illegal memory access");
    }
    return device.run(works, parts);
  };
  const std::vector<Neighbours> all{pair_with("a"), pair_with("b"), pair_with("c"), pair_with("d")};
  const Machine machine = describe_machine();
  const auto measured = [&] {
    Outcome outcome;
    measure_neighbours(
        all, machine, budget_of(false), [] { return 0_s; }, [](std::string_view) {}, instruments,
        outcome);
    return outcome;
  };
  const Outcome outcome = measured();
  CHECK(outcome.neighbours.size() == 1);
  REQUIRE(outcome.failed.size() == 3);
  CHECK(outcome.failed[0].reason == "an illegal memory access");
  CHECK(outcome.failed[1].reason == "not tried after the others");
  CHECK(outcome.failed[2].reason == "not tried after the others");
  // Lost by a point before: nothing is tried at all.
  CHECK(measured().failed.size() == all.size());
}

TEST_CASE("the file says under which clock and beside which copies neighbours ran") {
  SamplesFile file;
  MeasuredNeighbours run{80_ms, {{named("gemm", Role::compute), 1_ms, 2_ms, 0.6}}};
  run.clock = 0.54;
  run.clock_reference = 0.6;
  run.copied_before = Bandwidth{3e12};
  run.copied_after = Bandwidth{2.9e12};
  run.repeats = 2;
  file.neighbours = {run};
  const std::string text = text_of(file);
  CHECK_THAT(text, ContainsSubstring("\"clock_ratio\": 0.9,") &&
                       ContainsSubstring("\"clock_reference\": 0.6,") &&
                       ContainsSubstring("\"alone_clock_ratio\": 1") &&
                       ContainsSubstring("\"copy_gb_per_s\": [3000, 2900]") &&
                       ContainsSubstring("\"repeats\": 2"));
  file.neighbours.front().repeats = 0;
  file.neighbours.front().copied_after = Bandwidth{};
  CHECK_THAT(text_of(file), !ContainsSubstring("copy_gb_per_s") && !ContainsSubstring("repeats"));
}
