// SPDX-License-Identifier: Apache-2.0
#include "kernels/harness/measure.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/codec/inputs.hpp"
#include "kernels/harness/json_writer.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using namespace payoff::kernels;

namespace {

// Times around 100 us with normal noise of a given share.
std::function<Sample()> noisy(double noise, std::uint64_t seed) {
  return [noise, seed, i = std::uint64_t{0}]() mutable {
    const double deviation = static_cast<double>(normal_value({seed, 0}, i++));
    return Sample{100_us * (1.0 + noise * deviation), 1.0};
  };
}

void no_pause(Seconds /*time*/) {}

}  // namespace

TEST_CASE("the median of an even number of samples lies halfway between the middle two") {
  const std::vector<Seconds> samples{4_us, 1_us, 3_us, 2_us};
  const Summary summary = summarize(samples);
  CHECK_THAT(summary.median / 1_us, Catch::Matchers::WithinRel(2.5, 1e-12));
  // Variance of 1..4 with n - 1: 5/3; the mean is 2.5.
  CHECK_THAT(summary.noise_ratio, Catch::Matchers::WithinRel(std::sqrt(5.0 / 3.0) / 2.5, 1e-12));
  CHECK(summarize(std::vector<Seconds>{7_us}).noise_ratio == 0.0);
}

TEST_CASE("a straight line is found exactly, and a level one has slope zero") {
  const std::vector<double> rising{1.0, 1.5, 2.0, 2.5};
  CHECK_THAT(fitted_line(rising).slope, Catch::Matchers::WithinRel(0.5, 1e-12));
  CHECK_THAT(fitted_line(rising).determination, Catch::Matchers::WithinRel(1.0, 1e-12));
  CHECK(fitted_line(std::vector<double>(5, 3.0)).slope == 0.0);
  CHECK(std::abs(fitted_line(std::vector<double>{1.0, 2.0, 2.0, 1.0}).slope) < 1e-12);
}

TEST_CASE("entropy is the logarithm of equally frequent values, and levels once they repeat") {
  EntropyTrace trace(1_ns);
  // The rule of nvbench with a window of 40, slope and share explained, worked out apart: the first
  // even count at which it holds.
  int first_level = 0;
  for (int i = 0; i < 4000; ++i) {
    trace.add((100.0 + i % 4) * 1_ns);
    first_level = first_level == 0 && i % 2 == 1 && trace.is_level() ? i + 1 : first_level;
  }
  CHECK_THAT(trace.entropy(), Catch::Matchers::WithinAbs(2.0, 1e-9));  // log2 4
  CHECK(first_level == 48);
  CHECK(!trace.is_level());  // what is left goes up and down: no line explains it
  EntropyTrace constant(1_ns);
  for (int i = 0; i < 40; ++i) {
    constant.add(100_ns);
  }
  CHECK(constant.is_level());  // a line explains all of what does not vary
  EntropyTrace growing(1_ns);
  for (int i = 0; i < 60; ++i) {
    growing.add((100.0 + i) * 1_ns);  // every value new: log2 of the count
  }
  CHECK_THAT(growing.entropy(), Catch::Matchers::WithinRel(std::log2(60.0), 1e-9));
  CHECK(!growing.is_level());
}

TEST_CASE("quiet samples stop at the noise target, after the shortest time and no sooner") {
  const StopRule rule{10, 10000, 0.005, 10_ms, 1.0_s};
  const Measurement measured = measure(noisy(0.001, 1), no_pause, rule, 1_ns);
  CHECK(measured.stop == Stop::noise);
  // 10 ms of 100 us samples, then the next even count.
  CHECK(measured.samples.size() >= 99);
  CHECK(measured.samples.size() <= 102);
  CHECK_THAT(measured.summary.median / 1_us, Catch::Matchers::WithinRel(100.0, 1e-3));
}

TEST_CASE("noisy samples stop when their distribution is known, or when time is up") {
  const StopRule patient{10, 1000000, 0.005, 10_ms, 60.0_s};
  const Measurement known = measure(noisy(0.05, 2), no_pause, patient, 1_us);
  CHECK(known.stop == Stop::entropy);
  CHECK(known.summary.noise_ratio > 0.03);
  const StopRule hurried{10, 1000000, 0.0001, 10_ms, 20_ms};
  CHECK(measure(noisy(0.05, 2), no_pause, hurried, 1_ns).stop == Stop::time);
  const StopRule few{10, 30, 0.0001, 0.0_s, 60.0_s};
  const Measurement counted = measure(noisy(0.05, 2), no_pause, few, 1_ns);
  CHECK(counted.stop == Stop::count);
  CHECK(counted.samples.size() == 30);
}

TEST_CASE("samples of a throttled clock are left out, and the pauses grow until it recovers") {
  std::vector<Seconds> pauses;
  int taken = 0;
  const auto take = [&taken] {
    ++taken;
    const bool throttled = taken > 20 && taken <= 25;
    return Sample{throttled ? 200_us : 100_us, throttled ? 0.5 : 1.0};
  };
  const Measurement measured = measure(
      take, [&pauses](Seconds time) { pauses.push_back(time); }, {50, 1000, 0.005, 0.0_s, 30.0_s},
      1_ns);
  CHECK(measured.discarded == 5);
  CHECK(measured.summary.median == 100_us);
  CHECK(measured.summary.noise_ratio < 1e-9);
  REQUIRE(pauses.size() == 5);
  for (std::size_t i = 1; i < pauses.size(); ++i) {
    CHECK_THAT(pauses[i] / pauses[i - 1], Catch::Matchers::WithinRel(2.0, 1e-9));  // 0.05 to 0.8 s
  }
}

TEST_CASE("a GPU that never recovers or settles ends with no samples and does not wait for ever") {
  const auto take = [i = 0]() mutable { return Sample{100_us, ++i % 2 == 0 ? 0.3 : 0.5}; };
  const Measurement measured = measure(take, no_pause, full_rule(), 1_ns);
  CHECK(measured.samples.empty());
  CHECK(measured.stop == Stop::time);
  CHECK(measured.discarded > 0);
  CHECK(measured.summary.median == Seconds{});
}

TEST_CASE("where the clock keeps steady below, the samples are kept and marked") {
  // A cap on the power: 60 % of the highest clock, within 2 %, from the first sample or the second.
  for (const int fast : {0, 1}) {
    const auto take = [fast, i = 0]() mutable {
      const double clock = i < fast ? 1.0 : 0.6 + 0.006 * (i % 3 - 1);
      ++i;
      return Sample{100_us / clock, clock};
    };
    for (const StopRule& rule : {quick_rule(), full_rule()}) {
      const Measurement measured = measure(take, no_pause, rule, 1_ns);
      CHECK(measured.samples.size() >= 2);
      CHECK_THAT(measured.clock_reference, Catch::Matchers::WithinRel(0.6, 0.011));
      CHECK_THAT(measured.summary.median / 100_us, Catch::Matchers::WithinRel(1.0 / 0.6, 0.011));
      CHECK(measured.clock_ratios.size() == measured.samples.size());
      CHECK(measured.discarded == static_cast<std::size_t>(fast));
    }
  }
  CHECK(measure(noisy(0.001, 1), no_pause, quick_rule(), 1_ns).clock_reference == 1.0);
}

TEST_CASE("a slow clock that was taken for steady, and was not, leaves nothing in the samples") {
  // Six samples at 60 % of the clock, then the GPU has cooled: at 90 %, or at all of it.
  for (const double later : {0.9, 1.0}) {
    const auto take = [later, i = 0]() mutable {
      const double clock = i++ < 6 ? 0.6 : later;
      return Sample{100_us / clock, clock};
    };
    const Measurement measured = measure(take, no_pause, full_rule(), 1_ns);
    CHECK_THAT(measured.clock_reference, Catch::Matchers::WithinRel(later, 1e-12));
    CHECK_THAT(measured.summary.median / 100_us, Catch::Matchers::WithinRel(1.0 / later, 1e-9));
    CHECK(measured.summary.noise_ratio < 1e-9);
    CHECK(measured.discarded == 6);
    CHECK(measured.clock_ratios.size() == measured.samples.size());
  }
}

TEST_CASE("a clock that wavers by the spread of a steady one, or peaks twice, is no faster one") {
  const auto take = [i = 0]() mutable {
    const bool peaks = i % 5 == 3 || i % 5 == 4;  // after three slow ones, two in a row
    ++i;
    const double clock = peaks ? 0.65 : 0.6;
    return Sample{100_us / clock, clock};
  };
  const Measurement measured = measure(take, no_pause, full_rule(), 1_ns);
  CHECK_THAT(measured.clock_reference, Catch::Matchers::WithinRel(0.6, 1e-12));
  CHECK(measured.discarded == 0);
}

TEST_CASE("samples that the gate let go are no throttling, and are counted apart") {
  std::size_t pauses = 0;
  const auto take = [i = 0]() mutable {
    const bool timed_out = ++i == 3;
    return Sample{timed_out ? 2_s : 100_us, 1.0, Seconds{}, timed_out};
  };
  const Measurement measured = measure(
      take, [&](Seconds) { ++pauses; }, {10, 1000, 0.005, 0.0_s, 1_s}, 1_ns);
  CHECK(measured.timed_out == 1);
  CHECK(measured.discarded == 0);
  CHECK(pauses == 0);
  CHECK(measured.gated);
  CHECK(measured.summary.median == 100_us);
}

TEST_CASE("a gate that let go costs its time, and what was measured behind it is kept") {
  // Twenty go well, two are let go, of which the rule counts the first, then no gate is used.
  GateUse use;
  std::size_t taken = 0;
  const auto take = [&] {
    const bool gated = use.waits();
    const bool timed_out = gated && ++taken > 20;
    use.saw(timed_out);
    return Sample{timed_out ? 2_s : (gated ? 100_us : 150_us), 1.0, Seconds{}, timed_out, gated};
  };
  const Measurement measured = measure(take, no_pause, {10, 1000, 0.0, 100_ms, 350_ms}, 1_ns);
  CHECK(measured.timed_out == 1);  // two seconds are beyond the time of the point
  CHECK(measured.stop == Stop::time);
  CHECK(measured.gated);
  CHECK(measured.samples.size() == 20);
  CHECK(measured.summary.median == 100_us);
  // Where the time would reach for more, the samples behind the gate still are all there is.
  use = {};
  taken = 0;
  const Measurement patient = measure(take, no_pause, {10, 1000, 0.0, 60_s, 60_s}, 1_ns);
  CHECK(patient.timed_out == 2);
  CHECK(patient.gated);
  CHECK(patient.samples.size() == 20);
}

TEST_CASE("a gate that lets go now and then is given up too, and the time of a point is bounded") {
  GateUse use;
  Seconds all{};
  const auto take = [&, i = 0]() mutable {
    const bool gated = use.waits();
    const bool timed_out = gated && ++i % 2 == 0;
    use.saw(timed_out);
    all += timed_out ? 2_s : 100_us;
    return Sample{timed_out ? 2_s : 100_us, 1.0, Seconds{}, timed_out, gated};
  };
  const Measurement measured = measure(take, no_pause, full_rule(), 1_ns);
  CHECK(measured.timed_out == GateUse::most_time_outs);
  CHECK(all <= 2.0 * 2_s + full_rule().longest);
}

TEST_CASE("work that the host cannot queue ahead is measured without a gate, and marked") {
  GateUse use;
  const auto take = [&use, i = 0]() mutable {
    const bool gated = use.waits();
    const bool timed_out = gated && ++i > 4;  // four went well
    use.saw(timed_out);
    return Sample{timed_out ? 2_s : (gated ? 100_us : 150_us), 1.0, Seconds{}, timed_out, gated};
  };
  const Measurement measured = measure(take, no_pause, {10, 1000, 0.005, 0.0_s, 1_s}, 1_ns);
  CHECK(measured.timed_out == GateUse::most_time_outs);
  CHECK(!measured.gated);
  // Of those behind the gate none is left.
  CHECK(*std::min_element(measured.samples.begin(), measured.samples.end()) == 150_us);
}

TEST_CASE("JSON is nested, quoted and free of what JSON cannot say") {
  JsonWriter json;
  json.begin_object();
  json.text("name", "a \"b\"\\\n");
  json.number("third", 1.0 / 3.0);
  json.number("none", std::nan(""));
  json.begin_list("empty");
  json.end_list();
  json.begin_list("points");
  json.begin_object();
  json.whole("bytes", 18446744073709551615ULL);
  json.numbers("samples_us", std::vector<double>{1.5, 2e-7});
  json.end_object();
  json.truth({}, true);
  CHECK(json.finished() ==
        "{\n  \"name\": \"a \\\"b\\\"\\\\\\u000a\",\n  \"third\": 0.333333333,\n"
        "  \"none\": null,\n  \"empty\": [],\n  \"points\": [\n    {\n"
        "      \"bytes\": 18446744073709551615,\n      \"samples_us\": [1.5, 2e-07]\n    },\n"
        "    true\n  ]\n}\n");
}
