// SPDX-License-Identifier: Apache-2.0
#include "model/alpha_beta.hpp"

#include <algorithm>
#include <vector>

#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

constexpr AlphaBeta wire{5_us, 10_GBps};

// A second implementation: every rank's messages one by one, on links that carry one message each
// way at a time. `bytes[k]` is sent in step k.
Seconds in_steps(const std::vector<double>& bytes, const AlphaBeta& of) {
  Seconds time;
  for (const double b : bytes) {
    time += of.alpha + b * 1_B / of.beta;
  }
  return time;
}

}  // namespace

TEST_CASE("a ring all-reduce of n ranks is 2(n-1) messages of an n-th of the buffer") {
  for (const int n : {2, 3, 8, 13, 1024}) {
    const std::vector<double> steps(static_cast<std::size_t>(2 * (n - 1)), 1e9 / n);
    CHECK_THAT(ring_all_reduce(n, 1_GB, wire) / 1_s, WithinRel(in_steps(steps, wire) / 1_s, 1e-12));
  }
}

TEST_CASE(
    "recursive halving and doubling send half, a quarter, an eighth of the buffer, and back") {
  // 16 ranks: 1/2, 1/4, 1/8, 1/16 and the same in reverse.
  const std::vector<double> steps{5e8, 2.5e8, 1.25e8, 6.25e7, 6.25e7, 1.25e8, 2.5e8, 5e8};
  CHECK_THAT(halving_doubling_all_reduce(16, 1_GB, wire) / 1_s,
             WithinRel(in_steps(steps, wire) / 1_s, 1e-12));
  // 17 ranks fold one of them in and out with the whole buffer.
  std::vector<double> folded = steps;
  folded.push_back(1e9);
  folded.push_back(1e9);
  CHECK_THAT(halving_doubling_all_reduce(17, 1_GB, wire) / 1_s,
             WithinRel(in_steps(folded, wire) / 1_s, 1e-12));
}

TEST_CASE("ring and halving-doubling move the same bytes; the latter needs fewer messages") {
  const AlphaBeta no_latency{0_s, wire.beta};
  const AlphaBeta no_bytes{wire.alpha, 1e9 * wire.beta};
  CHECK_THAT(ring_all_reduce(256, 1_GB, no_latency) / 1_s,
             WithinRel(halving_doubling_all_reduce(256, 1_GB, no_latency) / 1_s, 1e-12));
  CHECK_THAT(halving_doubling_all_reduce(256, 1_B, no_bytes) / 1_us, WithinRel(80.0, 1e-6));
  CHECK_THAT(tree_all_reduce(256, 1_B, no_bytes) / 1_us, WithinRel(80.0, 1e-6));
  CHECK_THAT(ring_all_reduce(256, 1_B, no_bytes) / 1_us, WithinRel(2550.0, 1e-6));
}

TEST_CASE("a tree has as many levels as ranks can be summed in pairs, also of no power of two") {
  const AlphaBeta no_bytes{wire.alpha, 1e9 * wire.beta};
  for (const int n : {2, 3, 4, 5, 6, 7, 8, 9, 17, 1000, 1024, 1025}) {
    CAPTURE(n);
    std::vector<double> up;
    for (int summands = n; summands > 1; summands = (summands + 1) / 2) {
      up.push_back(0);
    }
    CHECK_THAT(tree_all_reduce(n, 1_B, no_bytes) / 1_us,
               WithinRel(2 * (in_steps(up, no_bytes) / 1_us), 1e-6));
  }
}

TEST_CASE("two levels send an n-th of the buffer over each network wire") {
  const AlphaBeta fast{0_s, 1e9 * 1_GBps};
  const AlphaBeta network{0_s, 1_GBps};
  // 8 GPUs a node, 4 nodes: 2 (4-1)/4 of an eighth of 8 GB at 1 GB/s.
  CHECK_THAT(two_level_all_reduce(8, 4, 8_GB, fast, network) / 1_s, WithinRel(1.5, 1e-6));
  CHECK_THAT(two_level_all_reduce(8, 1, 8_GB, wire, network) / 1_s,
             WithinRel(ring_all_reduce(8, 8_GB, wire) / 1_s, 1e-12));
}

TEST_CASE("one rank sends nothing, whatever the algorithm") {
  CHECK(ring_all_reduce(1, 1_GB, wire) == 0_s);
  CHECK(ring_all_gather(1, 1_GB, wire) == 0_s);
  CHECK(halving_doubling_all_reduce(1, 1_GB, wire) == 0_s);
  CHECK(tree_all_reduce(1, 1_GB, wire) == 0_s);
  CHECK(two_level_all_reduce(1, 1, 1_GB, wire, wire) == 0_s);
}
