// SPDX-License-Identifier: Apache-2.0
#include "study/attribution.hpp"

#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::WithinAbs;

namespace {

// A sum of single effects and of effects of pairs, as one term: sum a_i x_i + sum g_ij x_i x_j. The
// value of a cause by Shapley is a_i + sum_j g_ij / 2, for pairs are divided among equals.
struct Pairs {
  std::size_t count{};

  [[nodiscard]] static double single(std::size_t i) { return 1.0 + static_cast<double>(i * i); }
  [[nodiscard]] static double pair(std::size_t i, std::size_t j) {
    return (i + j) % 3 == 0 ? -0.5 * static_cast<double>(i + j) : 0.25;
  }
  [[nodiscard]] Terms operator()(const Switches& on) const {
    double sum = 7;
    for (std::size_t i = 0; i < count; ++i) {
      sum += on[i] ? single(i) : 0;
      for (std::size_t j = 0; j < i; ++j) {
        sum += on[i] && on[j] ? pair(i, j) : 0;
      }
    }
    return {1_s * sum};
  }
  [[nodiscard]] double shapley(std::size_t i) const {
    double value = single(i);
    for (std::size_t j = 0; j < count; ++j) {
      value += i == j ? 0 : 0.5 * pair(i, j);
    }
    return value;
  }
};

}  // namespace

TEST_CASE("causes that act alone and in pairs have Shapley's value by either rule") {
  for (const std::size_t count : {1U, 2U, 6U, 7U, 12U}) {
    const Pairs pairs{count};
    const Attribution found = attribute(count, pairs);
    CHECK((found.rule == AttributionRule::shapley) == (count <= most_shapley));
    REQUIRE(found.causes.size() == count);
    for (std::size_t i = 0; i < count; ++i) {
      INFO(count << " causes, cause " << i);
      CHECK_THAT(found.contributions[i][0] / 1_s, WithinAbs(pairs.shapley(i), 1e-9));
    }
  }
}

TEST_CASE("an effect that needs three causes is divided in thirds over all orders") {
  const Attribution found = attribute(4, [](const Switches& on) -> std::optional<Terms> {
    return Terms{on[0] && on[1] && on[3] ? 3_s : 0_s, on[2] ? 5_s : 0_s};
  });
  for (const std::size_t i : {0U, 1U, 3U}) {
    CHECK_THAT(found.contributions[i][0] / 1_s, WithinAbs(1.0, 1e-12));
    CHECK_THAT(found.contributions[i][1] / 1_s, WithinAbs(0.0, 1e-12));
  }
  CHECK_THAT(found.contributions[2][0] / 1_s, WithinAbs(0.0, 1e-12));
  CHECK_THAT(found.contributions[2][1] / 1_s, WithinAbs(5.0, 1e-12));
}

TEST_CASE("changes of which one alone is impossible are one cause, and no others") {
  // Nodes (1) and ranks (4) change together or not at all.
  const Attribution found = attribute(5, [](const Switches& on) -> std::optional<Terms> {
    if (on[1] != on[4]) {
      return std::nullopt;
    }
    double sum = 0;
    for (std::size_t i = 0; i < on.size(); ++i) {
      sum += on[i] ? 1 << i : 0;
    }
    return Terms{1_s * sum};
  });
  const std::vector<std::vector<std::size_t>> causes{{0}, {1, 4}, {2}, {3}};
  CHECK(found.causes == causes);
  CHECK_THAT(found.contributions[1][0] / 1_s, WithinAbs(2 + 16, 1e-12));
  CHECK_THAT(found.contributions[3][0] / 1_s, WithinAbs(8, 1e-12));
}

TEST_CASE("contributions add up to the difference, whatever is impossible on the way") {
  // By a fixed mixing of bits: of the states on the way about every third is impossible.
  const auto mixed = [](const Switches& on) {
    std::uint64_t x = 88172645463325252ULL;
    for (const bool each : on) {
      x ^= x << 13U;
      x ^= x >> 7U;
      x += each ? 0x9E3779B97F4A7C15ULL : 1U;
    }
    return x ^ x >> 29U;
  };
  for (const std::size_t count : {3U, 5U, 9U}) {
    const Switches none(count, false);
    const Switches every(count, true);
    const TermsOf terms = [&](const Switches& on) -> std::optional<Terms> {
      if (on != none && on != every && mixed(on) % 3 == 0) {
        return std::nullopt;
      }
      const auto value = static_cast<double>(mixed(on) % 1000);
      return Terms{1_s * value, 2_s * value};
    };
    const Attribution found = attribute(count, terms);
    Seconds sum{};
    std::size_t members = 0;
    for (std::size_t c = 0; c < found.causes.size(); ++c) {
      sum += found.contributions[c][1];
      members += found.causes[c].size();
    }
    CHECK(members == count);
    CHECK_THAT((sum - ((*terms(every))[1] - (*terms(none))[1])) / 1_s, WithinAbs(0.0, 1e-9));
  }
  CHECK_THROWS_AS(
      attribute(1, [](const Switches&) -> std::optional<Terms> { return std::nullopt; }),
      std::invalid_argument);
}

TEST_CASE("rounded parts add up to the rounded whole, and nothing stays nothing") {
  const Terms parts{1.3_ms, 1.45_ms, 0_ms, 1.2_ms, -0.6_ms};  // 3.35 in all
  const std::vector<std::int64_t> rounded = rounded_to(3, parts, 1_ms);
  CHECK(std::accumulate(rounded.begin(), rounded.end(), std::int64_t{0}) == 3);
  // Down they are 1, 1, 0, 1, -1; the unit that is missing goes to the remainder of 0.45.
  CHECK(rounded == std::vector<std::int64_t>{1, 2, 0, 1, -1});
  CHECK(rounded_to(0, {}, 1_ms).empty());
}
