// SPDX-License-Identifier: Apache-2.0
#include "cli/simulation_cost.hpp"

#include <cmath>

#include <fmt/format.h>

#include "cli/option_values.hpp"

namespace payoff {
namespace {

// Above this many events a run takes seconds.
constexpr std::uint64_t many_events = 3'000'000;

// By the rates of docs/performance.md, where other programs keep the machine busy.
std::string duration(const sim::Estimate& cost) {
  constexpr std::uint64_t events_a_minute = 180'000'000;  // 3 million a second
  constexpr std::uint64_t times_of_a_send = 3;            // it shares its links
  const std::uint64_t events = cost.events + (times_of_a_send - 1) * cost.sends;
  const std::uint64_t minutes = (events + events_a_minute - 1) / events_a_minute;
  return minutes > 1 ? fmt::format("some {} minutes", minutes) : "less than a minute";
}

}  // namespace

std::uint64_t read_event_limit(const Arguments& arguments, bool simulates, Session& session) {
  if (const auto given = arguments.value(event_limit_option.name); given && !simulates) {
    session.diagnostics().error(given->span, "`--event-limit` needs --engine sim", {},
                                "only the simulator runs events");
  }
  constexpr std::int64_t most_events = 1'000'000'000'000'000;
  const auto limit = long_value(arguments, event_limit_option.name, {1, most_events}, session);
  return limit ? static_cast<std::uint64_t>(*limit) : sim::SimOptions{}.event_limit;
}

std::string megabytes(Bytes size) { return fmt::format("{:.0f} MB", std::ceil(size / 1_MB)); }

void announce_long_run(const sim::Estimate& cost, const std::string& after_interrupt,
                       const std::string& folding, Session& session) {
  if (cost.events <= many_events) {
    return;
  }
  const bool has_timeline = cost.trace > 0_B;
  session.note(fmt::format("simulating up to {} events, {}, in {} of memory{}{}; Ctrl-C ends it{}",
                           cost.events, duration(cost), megabytes(cost.memory),
                           has_timeline ? ", a timeline of about " + megabytes(cost.trace) : "",
                           folding.empty() ? "" : "; " + folding, after_interrupt));
}

}  // namespace payoff
