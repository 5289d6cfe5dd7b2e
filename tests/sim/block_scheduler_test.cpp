// SPDX-License-Identifier: Apache-2.0
#include "sim/block_scheduler.hpp"

#include <map>

#include "model/interference.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;
using sim::BlockScheduler;
using sim::Engine;
using sim::SimTime;

namespace {

constexpr SimTime one_us{1'000'000};

// When each kernel ends, in microseconds, by tag.
std::map<std::uint64_t, double> ends(Engine& engine, BlockScheduler& gpu) {
  std::map<std::uint64_t, double> result;
  while (engine.advance()) {
    for (const sim::Completion& done : engine.completed()) {
      if (const auto tag = gpu.block_ended(done)) {
        result[*tag] = to_seconds(engine.now()) / 1_us;
      }
    }
  }
  return result;
}

}  // namespace

TEST_CASE("by events too, 132 blocks beside an all-gather that holds 24 units take twice as long") {
  // H100; NVIDIA developer forum 337991: "nearly doubles", where 132/108 = 1.22 would be the share.
  Engine engine;
  BlockScheduler gpu(engine, 132);
  gpu.hold(24);
  gpu.launch({.blocks = 132, .block = one_us});
  CHECK_THAT(ends(engine, gpu)[0], WithinRel(2.0, 1e-12));
}

TEST_CASE("waves by events take what the law says, for any kernel and any reservation") {
  const int held = GENERATE(0, 1, 24, 66);
  const std::int64_t blocks = GENERATE(1, 66, 108, 109, 132, 133, 500, 1056, 2000);
  Engine engine;
  BlockScheduler gpu(engine, 132);
  gpu.hold(held);
  gpu.launch({.blocks = blocks, .block = one_us});
  const auto alone = static_cast<double>(waves(blocks, 132));
  CHECK_THAT(ends(engine, gpu)[0], WithinRel(alone / kernel_rate(blocks, 132, held), 1e-12));
}

TEST_CASE("a message that begins in a wave slows the waves after it, not the one that runs") {
  // 4 waves of 10 units. The message wants 5 from 0.5 us on and gets them at 1 us: 30 blocks in
  // waves of 5, 6 us more. A message of 2 us from then on holds them for 2 waves: 20 blocks at 10.
  Engine engine;
  BlockScheduler gpu(engine, 10);
  gpu.launch({.blocks = 40, .block = one_us});
  engine.wake_at({500'000}, 0, 1);
  engine.wake_at({3'000'000}, 0, 2);
  double end = 0;
  while (engine.advance()) {
    for (const sim::Completion& done : engine.completed()) {
      if (done.tag == 1) {
        gpu.hold(5);
        CHECK(gpu.held() == 0);
      } else if (done.tag == 2) {
        CHECK(gpu.held() == 5);
        gpu.release(5);
      } else if (gpu.block_ended(done)) {
        end = to_seconds(engine.now()) / 1_us;
      }
    }
  }
  // 10 blocks by 1 us, 5 each by 2 and 3 us, then 20 in two waves of 10.
  CHECK_THAT(end, WithinRel(5.0, 1e-12));
}

TEST_CASE("a second kernel gets the tail of the first, whole waves none") {
  // 15 blocks on 10 units: 5 units free in the second wave. The second kernel's 5 blocks of 1 us
  // begin at 1 us and cost nothing; a second kernel of 10 blocks ends half of them at 3 us.
  const int blocks = GENERATE(5, 10);
  Engine engine;
  BlockScheduler gpu(engine, 10);
  gpu.launch({.blocks = 15, .block = one_us, .tag = 1});
  gpu.launch({.blocks = blocks, .block = one_us, .tag = 2});
  auto end = ends(engine, gpu);
  CHECK_THAT(end[1], WithinRel(2.0, 1e-12));
  CHECK_THAT(end[2], WithinRel(blocks == 5 ? 2.0 : 3.0, 1e-12));
}

TEST_CASE("priority acts when blocks end") {
  // The urgent kernel comes at 0.5 us, runs from 1 us in place of the second wave.
  Engine engine;
  BlockScheduler gpu(engine, 10);
  gpu.launch({.blocks = 20, .block = one_us, .tag = 1});
  engine.wake_at({500'000}, 0, 0);
  std::map<std::uint64_t, double> end;
  while (engine.advance()) {
    for (const sim::Completion& done : engine.completed()) {
      if ((done.tag & BlockScheduler::tag_bit) == 0) {
        gpu.launch({.blocks = 10, .block = one_us, .priority = 1, .tag = 2});
      } else if (const auto tag = gpu.block_ended(done)) {
        end[*tag] = to_seconds(engine.now()) / 1_us;
      }
    }
  }
  CHECK_THAT(end[2], WithinRel(2.0, 1e-12));
  CHECK_THAT(end[1], WithinRel(3.0, 1e-12));
}

TEST_CASE("kernels that stream share the memory's bandwidth, by units") {
  // 1 TB/s; each kernel alone would take all of it: 5 units x 0.2 MB in 1 us. Together each runs at
  // half rate.
  Engine engine;
  BlockScheduler gpu(engine, 10, 1_TBps);
  const sim::Kernel stream{.blocks = 5, .block = one_us, .block_memory = 200_KB, .tag = 1};
  sim::Kernel other = stream;
  other.tag = 2;
  gpu.launch(stream);
  gpu.launch(other);
  auto end = ends(engine, gpu);
  CHECK_THAT(end[1], WithinRel(2.0, 1e-6));
  CHECK_THAT(end[2], WithinRel(2.0, 1e-6));
}

TEST_CASE("a kernel that needs no bandwidth is not slowed by one that takes it all") {
  Engine engine;
  BlockScheduler gpu(engine, 10, 1_TBps);
  gpu.launch({.blocks = 5, .block = one_us, .block_memory = 400_KB, .tag = 1});  // wants 2 TB/s
  gpu.launch({.blocks = 5, .block = one_us, .tag = 2});
  auto end = ends(engine, gpu);
  CHECK_THAT(end[1], WithinRel(2.0, 1e-6));
  CHECK_THAT(end[2], WithinRel(1.0, 1e-12));
}
