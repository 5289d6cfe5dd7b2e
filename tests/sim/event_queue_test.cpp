// SPDX-License-Identifier: Apache-2.0
#include "sim/event_queue.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "sim/trace_hash.hpp"
#include "tests/catch.hpp"
#include "tests/sim/random.hpp"

namespace payoff::sim {
namespace {

using Slots = std::vector<EventQueue::Slot>;

TEST_CASE("an event is due at its date, and all of a date are due together") {
  EventQueue queue;
  queue.push(3, {20});
  queue.push(1, {10});
  queue.push(2, {20});
  CHECK(queue.next_date() == SimTime{10});
  Slots due;
  CHECK(queue.take(due) == SimTime{10});
  CHECK(due == Slots{1});
  CHECK(queue.take(due) == SimTime{20});
  CHECK(due == Slots{1, 3, 2});
  CHECK(queue.empty());
}

TEST_CASE("a retimed event is due at its new date only, a cancelled one never") {
  EventQueue queue;
  queue.push(0, {10});
  queue.push(1, {10});
  queue.push(2, {30});
  queue.retime(0, {30});
  queue.cancel(1);
  CHECK_FALSE(queue.contains(1));
  CHECK(queue.date_of(0) == SimTime{30});
  Slots due;
  CHECK(queue.take(due) == SimTime{30});
  CHECK(due == Slots{2, 0});
  CHECK(queue.empty());
}

// The queue against a sorted map, in a long random history of operations. `dates` is how many
// different dates there are ahead: few make many events of one date, many make a deep heap. Some
// are `stretch` times as far away: by nearly all of the clock, they meet its end.
void compare_with_map(std::uint64_t seed, std::uint32_t dates, std::uint32_t slots,
                      std::int64_t stretch = 1) {
  Random random(seed);
  EventQueue queue;
  std::map<EventQueue::Slot, std::int64_t> reference;
  std::int64_t now = 0;
  for (int step = 0; step < 20'000; ++step) {
    const EventQueue::Slot slot = random.below(slots);
    const std::int64_t ahead = random.below(dates);
    const bool far = stretch > 1 && random.chance(0.1);
    const SimTime date{far ? now + std::min(ahead * stretch, end_of_clock.picoseconds - now)
                           : now + ahead};
    const bool pending = reference.contains(slot);
    REQUIRE(queue.contains(slot) == pending);
    if (!pending) {
      queue.push(slot, date);
      reference[slot] = date.picoseconds;
    } else if (random.chance(0.5)) {
      queue.retime(slot, date);
      reference[slot] = date.picoseconds;
    } else if (random.chance(0.2)) {
      queue.cancel(slot);
      reference.erase(slot);
    }
    if (random.chance(0.1) && !reference.empty()) {
      const auto earliest =
          std::min_element(reference.begin(), reference.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      now = earliest->second;
      Slots expected;
      for (const auto& [pending_slot, pending_date] : reference) {
        if (pending_date == now) {
          expected.push_back(pending_slot);
        }
      }
      Slots due;
      REQUIRE(queue.next_date() == SimTime{now});
      REQUIRE(queue.take(due) == SimTime{now});
      std::sort(due.begin(), due.end());
      REQUIRE(due == expected);
      std::erase_if(reference, [now](const auto& event) { return event.second == now; });
    }
    REQUIRE(queue.empty() == reference.empty());
  }
}

TEST_CASE("the queue agrees with a sorted map in random histories") {
  compare_with_map(1, 5, 100);
  compare_with_map(2, 300, 100);
  compare_with_map(3, 1'000'000'000, 100);
  compare_with_map(4, 1'000'000'000, 3);
  compare_with_map(5, 50, 700);
}

// What waits in buckets is spread again when they are through: also if one date is far from all
// others, and at the end of the clock.
TEST_CASE("the queue agrees with a sorted map where some dates are far away") {
  compare_with_map(6, 1'000, 200, 1'000);
  compare_with_map(7, 1'000'000, 200, 1'000'000'000);
  compare_with_map(8, 1'000'000, 20, 9'000'000'000'000);
  compare_with_map(9, 1'000'000'000, 600, 9'000'000'000);
}

TEST_CASE("what comes near is what is due before anything else") {
  EventQueue queue;
  for (EventQueue::Slot slot = 0; slot < 100; ++slot) {
    queue.push(slot, {1'000 + (slot * 37) % 100 * 10});
  }
  Slots due;
  std::vector<bool> seen(100);
  while (!queue.empty()) {
    due.clear();
    const SimTime date = queue.take(due);
    for (const EventQueue::Slot slot : queue.came_near()) {
      CHECK_FALSE(seen[slot]);
      CHECK(queue.date_of(slot) > date);
      seen[slot] = true;
    }
  }
  CHECK(std::count(seen.begin(), seen.end(), true) == 99);  // all but the first, never far away
}

TEST_CASE("the trace hash sees every date, every key and their order") {
  const auto hash_of = [](std::vector<std::pair<std::int64_t, std::uint64_t>> events) {
    TraceHash hash;
    for (const auto& [date, key] : events) {
      hash.add({date}, key);
    }
    return hash.value();
  };
  const auto hash = hash_of({{1, 2}, {3, 4}});
  CHECK(hash == hash_of({{1, 2}, {3, 4}}));
  CHECK(hash != hash_of({{1, 2}, {3, 5}}));
  CHECK(hash != hash_of({{1, 2}, {4, 4}}));
  CHECK(hash != hash_of({{3, 4}, {1, 2}}));
  CHECK(hash != hash_of({{1, 2}}));
  CHECK(hash != hash_of({{2, 1}, {3, 4}}));
}

}  // namespace
}  // namespace payoff::sim
