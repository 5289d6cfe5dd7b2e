// SPDX-License-Identifier: Apache-2.0
#include "model/packed_trees.hpp"

#include <cstddef>
#include <vector>

#include "model/cube_part.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

// So many links between GPUs that are next to each other, and between the last one and the first.
std::vector<int> chain(int gpus, int links, int closing) {
  const auto n = static_cast<std::size_t>(gpus);
  std::vector<int> between(n * n);
  const auto join = [&](std::size_t a, std::size_t b, int count) {
    between[a * n + b] = between[b * n + a] = count;
  };
  for (std::size_t gpu = 0; gpu + 1 < n; ++gpu) {
    join(gpu, gpu + 1, links);
  }
  join(n - 1, 0, n > 2 ? closing : links);
  return between;
}

}  // namespace

TEST_CASE("one tree is all that a chain carries, and a circle carries n over n - 1 of them") {
  for (int n = 3; n <= 8; ++n) {
    CHECK(tree_rates(chain(n, 1, 0), n).both_ways == 1);
    // n trees, each without another link, at 1 / (n - 1) each: a link is in n - 1 of them.
    CHECK_THAT(tree_rates(chain(n, 1, 1), n).both_ways, WithinRel(n / (n - 1.0), 1e-12));
  }
}

TEST_CASE("shares that every GPU is the root of fill the links into the GPU that has the fewest") {
  for (int n = 3; n <= 8; ++n) {
    // The end of a chain gets all but its own share over one link; in a circle over two.
    CHECK_THAT(tree_rates(chain(n, 1, 0), n).one_way, WithinRel(n / (n - 1.0), 1e-12));
    CHECK_THAT(tree_rates(chain(n, 1, 1), n).one_way, WithinRel(2 * n / (n - 1.0), 1e-12));
  }
}

TEST_CASE("on all eight GPUs of a cube trees are what rings are") {
  for (const bool single : {false, true}) {
    const std::vector<int> links = cube_links(8, single);
    const TreeRates rates = tree_rates(links, 8);
    const double of_gpu = single ? 4 : 6;
    // A ring on all links moves 2 * 7 / 8 of the buffer over those of one GPU.
    CHECK_THAT(rates.both_ways, WithinRel(of_gpu / (2 * 7.0 / 8), 1e-12));
    CHECK_THAT(rates.one_way, WithinRel(of_gpu / (7.0 / 8), 1e-12));
  }
}

TEST_CASE("twice the links carry twice as much, and of GPUs that are cut off trees carry nothing") {
  const TreeRates one = tree_rates(chain(5, 1, 1), 5);
  const TreeRates two = tree_rates(chain(5, 2, 2), 5);
  CHECK_THAT(two.both_ways, WithinRel(2 * one.both_ways, 1e-12));
  CHECK_THAT(two.one_way, WithinRel(2 * one.one_way, 1e-12));
  const std::vector<int> apart{0, 1, 0, 1, 0, 0, 0, 0, 0};  // 0 and 1 are joined, 2 to neither
  CHECK(tree_rates(apart, 3).both_ways == 0);
  CHECK(tree_rates(apart, 3).one_way == 0);
}

// A full mesh has both in closed form, which the price of an all-reduce takes.
TEST_CASE("with a link between every two, trees carry n / 2 both ways and n one way") {
  for (int n = 2; n <= 8; ++n) {
    std::vector<int> links(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), 1);
    for (std::size_t gpu = 0; gpu < static_cast<std::size_t>(n); ++gpu) {
      links[gpu * static_cast<std::size_t>(n) + gpu] = 0;
    }
    const TreeRates rates = tree_rates(links, n);
    CHECK_THAT(rates.both_ways, WithinRel(n / 2.0, 1e-12));
    CHECK_THAT(rates.one_way, WithinRel(static_cast<double>(n), 1e-12));
  }
}
