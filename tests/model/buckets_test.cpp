// SPDX-License-Identifier: Apache-2.0
#include "model/buckets.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "tests/catch.hpp"
#include "tests/model/architectures.hpp"

using namespace payoff;
using Counts = std::vector<std::size_t>;

namespace {

// fp32 gradients in the order of readiness: the reverse of the declaration.
std::vector<Bytes> ready_sizes(const architectures::Tensors& declared) {
  std::vector<Bytes> sizes;
  for (const auto& tensor : declared) {
    sizes.push_back(static_cast<double>(tensor.elements()) * 4_B);
  }
  std::reverse(sizes.begin(), sizes.end());
  return sizes;
}

std::vector<Bytes> pseudo_random_sizes(std::uint32_t seed, std::size_t count) {
  std::vector<Bytes> sizes;
  std::uint32_t state = seed;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 1664525U + 1013904223U;
    sizes.push_back(static_cast<double>((state >> 8) % (1U << ((state >> 3) % 24U + 1U)) + 1U) *
                    4_B);
  }
  return sizes;
}

}  // namespace

TEST_CASE("a bucket closes with the tensor that reaches its cap") {
  // What dist._compute_bucket_assignment_by_size of torch 2.2.2 answers for three
  // Linear(512, 512): [[0], [1, 2], [3, 4], [5]].
  const std::vector<Bytes> sizes{1_MiB, 2_KiB, 1_MiB, 2_KiB, 1_MiB, 2_KiB};
  CHECK(fill_buckets(sizes, 1_MiB, 1_MiB) == Counts{1, 2, 2, 1});
  CHECK(fill_buckets(sizes, 2_GiB, 2_GiB) == Counts{6});
}

TEST_CASE("only the first bucket has the small cap") {
  const std::vector<Bytes> sizes(12, 1_MiB);
  CHECK(fill_buckets(sizes, 1_MiB, 5_MiB) == Counts{1, 5, 5, 1});
  CHECK(fill_buckets(sizes, 3_MiB, 5_MiB) == Counts{3, 5, 4});
}

TEST_CASE("no gradients fill no bucket") { CHECK(fill_buckets({}, 1_MiB, 25_MiB).empty()); }

TEST_CASE("ResNet-50 has five buckets, the first of which is its classifier") {
  const auto declared = architectures::bottleneck_resnet({3, 4, 6, 3}, 7, 1000);
  const auto sizes = ready_sizes(declared);
  const Counts counts = fill_buckets(sizes, 1_MiB, 25_MiB);

  // The bias (4 kB) is below 1 MiB, the weight (8.2 MB) is above: both and nothing else.
  REQUIRE(counts.front() == 2);
  // 94.0 MB remain. A bucket takes between 26.2 MB and 26.2 MB plus one tensor, of which the
  // largest has 2.36 M elements (9.4 MB): at least 94.0 / 35.7 = 2.6 and at most 94.0 / 26.2 = 3.6
  // whole buckets.
  const double rest = (25557032.0 - 2049000.0) * 4.0 / (25.0 * 1024 * 1024);
  CHECK(static_cast<double>(counts.size() - 1) >= rest * 26.2 / 35.7);
  CHECK(static_cast<double>(counts.size() - 1) <= rest + 1.0);
  CHECK(counts.size() == 5);
}

TEST_CASE("every gradient is in one bucket, and every bucket but the last is full") {
  for (const std::uint32_t seed : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U}) {
    const auto sizes = pseudo_random_sizes(seed, 40 * seed);
    const Counts counts = fill_buckets(sizes, 1_MiB, 25_MiB);
    REQUIRE(std::accumulate(counts.begin(), counts.end(), std::size_t{0}) == sizes.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      REQUIRE(counts[i] > 0);
      const Bytes cap = i == 0 ? 1_MiB : 25_MiB;
      const auto begin = sizes.begin() + static_cast<std::ptrdiff_t>(next);
      const auto end = begin + static_cast<std::ptrdiff_t>(counts[i]);
      const Bytes total = std::accumulate(begin, end, Bytes{});
      CHECK((total >= cap || i + 1 == counts.size()));
      CHECK(total - *(end - 1) < cap);  // it was open before its last tensor
      next += counts[i];
    }
  }
}
