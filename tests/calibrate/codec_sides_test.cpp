// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "calibrate/codec_fit.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

const CodecConstant& constant_of(const CodecFit& fit, std::string_view name) {
  const auto found = std::find_if(fit.constants.begin(), fit.constants.end(),
                                  [&](const CodecConstant& each) { return each.name == name; });
  REQUIRE(found != fit.constants.end());
  return *found;
}

// One launch each: 4 us, 0.8 TB/s inside 10 MB and 0.5 TB/s beyond, of 1 TB/s.
std::vector<CodecTiming> of_sizes(const std::vector<double>& megabytes) {
  std::vector<CodecTiming> timings;
  for (const double size : megabytes) {
    const Bytes bytes = size * 1_MB;
    const Bytes inside = std::min(bytes, 10_MB);
    timings.push_back({"made_up", "round", Implementation::fused, 1_TBps, 10_MB, 0, 1, 0, bytes,
                       4_us + inside / 0.8_TBps + (bytes - inside) / 0.5_TBps});
  }
  return timings;
}

}  // namespace

TEST_CASE("an efficiency of a side of the cache where no row lies is not told") {
  const auto told = [](const std::vector<double>& megabytes) {
    const CodecFit fit = fit_codecs(of_sizes(megabytes)).front();
    return std::pair(constant_of(fit, "resident_efficiency").told,
                     constant_of(fit, "memory_efficiency").told);
  };
  CHECK(told({0.1, 1.0, 10.0, 100.0, 1000.0}) == std::pair(true, true));
  CHECK(told({0.1, 1.0, 5.0, 10.0}) == std::pair(true, false));
  CHECK(told({100.0, 300.0, 1000.0}) == std::pair(false, true));
}

TEST_CASE("times of nothing that has a price tell nothing") {
  std::vector<CodecTiming> timings = of_sizes({1.0, 10.0});
  for (CodecTiming& timing : timings) {
    timing.kernels = 0;
    timing.bytes = Bytes{};
  }
  const CodecFit fit = fit_codecs(timings).front();
  CHECK(!constant_of(fit, "resident_efficiency").told);
  CHECK(!constant_of(fit, "memory_efficiency").told);
  CHECK(fit.fitted.empty());
  CHECK(fit.rms_error == 1.0);  // a time of zero is off by all of it
}

TEST_CASE("waits of the host in a fixed ratio to launches leave both bandwidths told") {
  std::vector<CodecTiming> timings = of_sizes({0.1, 1.0, 10.0, 100.0, 1000.0, 3000.0});
  for (CodecTiming& timing : timings) {
    timing.host_syncs = 1;
    timing.time += 12_us;
  }
  const CodecFit fit = fit_codecs(timings).front();
  CHECK_THAT(constant_of(fit, "memory_efficiency").value, WithinRel(0.5, 1e-6));
  CHECK(constant_of(fit, "memory_efficiency").told);
}

// Of as many rows as unknowns nothing is left over that would tell their errors.
TEST_CASE("the noise that times are known to have is in the standard deviations") {
  std::vector<CodecTiming> timings = of_sizes({0.1, 10.0, 1000.0});
  CHECK(constant_of(fit_codecs(timings).front(), "memory_efficiency").sd < 1e-9);
  for (CodecTiming& timing : timings) {
    timing.relative_sd = 0.01;
  }
  CHECK(constant_of(fit_codecs(timings).front(), "memory_efficiency").sd > 0.01 * 0.5);
}
