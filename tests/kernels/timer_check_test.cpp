// SPDX-License-Identifier: Apache-2.0
// The check of event times: what is read of a driver's record, and what two lists of times say.
#include "kernels/program/timer_check.hpp"

#include <array>
#include <cstring>

#include "kernels/program/activity_library.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using namespace payoff::kernels;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

namespace {

// Kind, 12 bytes of what the kernel asked for, start and end in ns, and more.
std::array<std::uint8_t, 64> record(std::uint32_t kind, std::uint64_t start, std::uint64_t end) {
  std::array<std::uint8_t, 64> bytes{};
  bytes.fill(0x5a);
  std::memcpy(bytes.data(), &kind, sizeof kind);
  std::memcpy(bytes.data() + 16, &start, sizeof start);
  std::memcpy(bytes.data() + 24, &end, sizeof end);
  return bytes;
}

}  // namespace

TEST_CASE("a record of a kernel tells how long it ran, and one of anything else does not") {
  constexpr std::uint32_t kernel = 10;
  const auto time = kernel_time_of(record(kernel, 1'000'000, 1'201'300));
  REQUIRE(time.has_value());
  CHECK_THAT(*time / 1_us, WithinRel(201.3, 1e-12));
  CHECK_FALSE(kernel_time_of(record(1, 1'000'000, 1'201'300)));  // a copy's
  CHECK_FALSE(kernel_time_of(record(kernel, 0, 0)));             // no times were taken
  CHECK_FALSE(kernel_time_of(record(kernel, 5, 4)));
  const auto whole = record(kernel, 1, 2);
  CHECK_FALSE(kernel_time_of(std::span(whole).first(31)));
}

TEST_CASE("times by events and by records are compared by their medians, run for run") {
  const std::array events{202_us, 201_us, 300_us};
  const std::array records{200_us, 199_us, 201_us};
  const TimerCheck check = compared("copy", events, records);
  CHECK(check.why_none.empty());
  CHECK(check.by_events == 202_us);
  CHECK(check.by_records == 200_us);
  CHECK(text_of(check) == "events 202.0 us, records 200.0 us for the same 3 runs of copy");
  // A record more is of a kernel that nobody asked for.
  const TimerCheck lost = compared("copy", std::span(events).first(2), records);
  CHECK(lost.why_none == "3 records of 2 runs");
  CHECK_THAT(text_of(lost), ContainsSubstring("were not checked"));
  CHECK_FALSE(compared("copy", {}, {}).why_none.empty());
}

TEST_CASE("on the emulated grid there is nothing to check event times by") {
  CHECK_FALSE(check_timer().why_none.empty());
}
