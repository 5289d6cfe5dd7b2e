// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference/thresholds.hpp"

#include "tests/catch.hpp"
#include "tests/kernels/tensors.hpp"

using namespace payoff::kernels;
using Catch::Matchers::WithinAbs;

TEST_CASE("a bisection brackets k, and keeps the k that selecting keeps but for its last steps") {
  for (const auto& tensor : test::tensors()) {
    const auto count = static_cast<std::uint32_t>(tensor.values.size());
    for (const std::uint32_t k : {1U, count / 100, count / 4, count}) {
      if (k == 0 || k > count) {
        continue;
      }
      INFO(tensor.name << ", k = " << k);
      const Bisection found = bisected(tensor.values, k, 20);
      CHECK(found.kept == count_reaching(tensor.values, found.few));
      CHECK(found.kept <= k);
      CHECK((found.many == 0.0F || count_reaching(tensor.values, found.many) > k));
      const SparseMessage message = kept_by(found, tensor.values, k);
      CHECK(message.indices.size() == k);
      // What the message has and the k largest have not lies between the two thresholds.
      const float least = float_of(select_key(tensor.values, k));
      for (const float value : message.values) {
        CHECK((magnitude(value) >= least || bisected_side(value, found) == 0));
      }
    }
  }
}

TEST_CASE("each step of a bisection halves the way between its thresholds") {
  const auto values = test::drawn(InputKind::laplace, 4099);
  const Bisection few = bisected(values, 100, 8);
  const Bisection many = bisected(values, 100, 16);
  REQUIRE((few.many > 0.0F && many.many > 0.0F));
  const auto width = [](const Bisection& found) {
    return static_cast<double>(found.few) - static_cast<double>(found.many);
  };
  // Of the way from the mean to the largest: 2^-8 and 2^-16 of it.
  CHECK_THAT(width(few) / width(many), Catch::Matchers::WithinRel(256.0, 0.01));
}

TEST_CASE("the quantile of a normal distribution is the published one") {
  CHECK_THAT(normal_deviations(0.05), WithinAbs(1.959963984540, 1e-9));
  CHECK_THAT(normal_deviations(0.01), WithinAbs(2.575829303549, 1e-9));
  CHECK_THAT(normal_deviations(1.0), WithinAbs(0.0, 1e-9));
}

TEST_CASE("a normal tensor needs no correction, and a heavy-tailed one is corrected towards k") {
  constexpr std::uint32_t count = 200000;
  constexpr std::uint32_t k = 2000;
  const auto deviations = static_cast<float>(normal_deviations(0.01));
  const auto kept = [&](InputKind kind, int corrections) {
    const auto values = test::drawn(kind, count);
    return static_cast<double>(
        count_reaching(values, gaussian_threshold(values, k, deviations, corrections)));
  };
  // The sum of eight uniform numbers has an excess kurtosis of -1.2 / 8, so that by Edgeworth's
  // first term 2 phi(x) (kurtosis / 24) (x^3 - 3 x) of x = 2.576 is missing beyond it: 0.83 % for 1
  // %. A binomial count of 1,660 has a deviation of 41.
  CHECK_THAT(kept(InputKind::gaussian, 0), WithinAbs(1660.0, 5 * 41.0));
  CHECK(kept(InputKind::gaussian, 3) == kept(InputKind::gaussian, 0));
  // With 3 degrees of freedom 1.4 % of values lie beyond 2.58 deviations: more than 4/3 k.
  const double before = kept(InputKind::student_t3, 0);
  const double after = kept(InputKind::student_t3, 3);
  CHECK((before > 4.0 / 3.0 * k ? after < before : after == before));
}

TEST_CASE("a threshold is corrected by half of itself, outside of 2/3 and 4/3 of k alone") {
  CHECK(corrected_threshold(2.0F, 199, 300) == 1.0F);
  CHECK(corrected_threshold(2.0F, 200, 300) == 2.0F);
  CHECK(corrected_threshold(2.0F, 400, 300) == 2.0F);
  CHECK(corrected_threshold(2.0F, 401, 300) == 3.0F);
}
