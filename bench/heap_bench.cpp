// SPDX-License-Identifier: Apache-2.0

// The event queue (sim/event_queue.hpp) against std::priority_queue and three heaps of Boost, in
// one run. Every queue answers the same questions, and the answers are compared.
//
//   hold     the earliest event is taken and set again at a later date: the classic of event
//            queues (Jones, "An empirical comparison of priority-queue and event-set
//            implementations", CACM 29(4), 1986)
//   retime   that, and eight other events get another date: what a change of rates asks for
//   rounds   all events have the same date, always: equal ranks in lockstep
//
// std::priority_queue cannot move an entry: it gets another one, and the old one is dropped when
// it comes up. Boost's heaps move entries by handles.
//
//   heap_bench [OPERATIONS]      1,000,000 for every workload and queue unless told otherwise

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <queue>
#include <vector>

#include <boost/heap/d_ary_heap.hpp>
#include <boost/heap/fibonacci_heap.hpp>
#include <boost/heap/pairing_heap.hpp>
#include <fmt/format.h>

#include "sim/event_queue.hpp"

namespace {

using payoff::sim::EventQueue;
using Slot = EventQueue::Slot;

struct Event {
  std::int64_t date;
  Slot slot;
  bool operator<(const Event& other) const { return date > other.date; }  // earliest on top
};

class Ours {
 public:
  explicit Ours(Slot /*slots*/) {}
  void push(Slot slot, std::int64_t date) { queue_.push(slot, {date}); }
  void retime(Slot slot, std::int64_t date) { queue_.retime(slot, {date}); }
  template <class Function>
  void take(Function&& each) {
    due_.clear();
    const std::int64_t date = queue_.take(due_).picoseconds;
    for (const Slot slot : due_) {
      each(slot, date);
    }
  }

 private:
  EventQueue queue_;
  std::vector<Slot> due_;
};

class Standard {
 public:
  explicit Standard(Slot slots) : dates_(slots, -1) {}
  void push(Slot slot, std::int64_t date) {
    dates_[slot] = date;
    queue_.push({date, slot});
  }
  void retime(Slot slot, std::int64_t date) { push(slot, date); }
  template <class Function>
  void take(Function&& each) {
    const Event event = queue_.top();
    queue_.pop();
    if (dates_[event.slot] == event.date) {
      dates_[event.slot] = -1;
      each(event.slot, event.date);
    }
  }

 private:
  std::priority_queue<Event> queue_;
  std::vector<std::int64_t> dates_;  // that count; an entry with another one is out of date
};

template <class Heap>
class Boost {
 public:
  explicit Boost(Slot slots) : handles_(slots) {}
  void push(Slot slot, std::int64_t date) { handles_[slot] = heap_.push({date, slot}); }
  void retime(Slot slot, std::int64_t date) { heap_.update(handles_[slot], {date, slot}); }
  template <class Function>
  void take(Function&& each) {
    const Event event = heap_.top();
    heap_.pop();
    each(event.slot, event.date);
  }

 private:
  Heap heap_;
  std::vector<typename Heap::handle_type> handles_;
};

using DAry =
    Boost<boost::heap::d_ary_heap<Event, boost::heap::arity<4>, boost::heap::mutable_<true>>>;
using Pairing = Boost<boost::heap::pairing_heap<Event>>;
using Fibonacci = Boost<boost::heap::fibonacci_heap<Event>>;

// A whole number that looks random and depends on nothing else: not on the order of events.
constexpr std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 31U)) * 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 29U)) * 0xbf58476d1ce4e5b9ULL;
  return value ^ (value >> 32U);
}

struct Workload {
  const char* name;
  Slot pending;
  std::uint32_t retimes = 0;  // for every event taken
  bool random = true;         // dates; or all equal
};

struct Outcome {
  double seconds{};
  std::uint64_t sum{};  // over all dates taken
};

template <class Queue>
Outcome run(const Workload& workload, std::uint64_t operations) {
  std::uint64_t state = 0;
  const auto after = [&](std::int64_t now, std::uint64_t salt) {
    return now + 1 + static_cast<std::int64_t>(workload.random ? mixed(salt) >> 24U : 1000);
  };
  Queue queue(workload.pending);
  for (Slot slot = 0; slot < workload.pending; ++slot) {
    queue.push(slot, after(0, slot));
  }
  Outcome outcome;
  std::uint64_t taken = 0;
  const std::clock_t start = std::clock();
  while (taken < operations) {
    std::int64_t now = 0;
    queue.take([&](Slot slot, std::int64_t date) {
      now = date;
      ++taken;
      outcome.sum += mixed(static_cast<std::uint64_t>(date));
      queue.push(slot, after(date, static_cast<std::uint64_t>(date) + slot));
    });
    for (std::uint32_t i = 0; now > 0 && i < workload.retimes; ++i) {
      const auto slot = static_cast<Slot>(mixed(++state) % workload.pending);
      queue.retime(slot, after(now, ~state));
    }
  }
  outcome.seconds = static_cast<double>(std::clock() - start) / static_cast<double>(CLOCKS_PER_SEC);
  outcome.seconds /= static_cast<double>(taken);
  return outcome;
}

void compare(const Workload& workload, std::uint64_t operations) {
  operations += workload.pending - 1;  // whole rounds
  operations -= operations % workload.pending;
  const Outcome ours = run<Ours>(workload, operations);
  const auto ratio = [&](const Outcome& other) {
    if (other.sum != ours.sum) {
      fmt::print(stderr, "error: the queues of `{}` do not agree\n", workload.name);
      std::exit(1);
    }
    return fmt::format("{:.2f}x", other.seconds / ours.seconds);
  };
  fmt::print("{:<8} {:>8} {:>9.1f} {:>15} {:>11} {:>9} {:>10}\n", workload.name, workload.pending,
             ours.seconds * 1e9, ratio(run<Standard>(workload, operations)),
             ratio(run<DAry>(workload, operations)), ratio(run<Pairing>(workload, operations)),
             ratio(run<Fibonacci>(workload, operations)));
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t operations = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  if (operations == 0) {
    fmt::print(stderr, "error: the number of operations is not positive\n");
    return 2;
  }
  fmt::print("{:<8} {:>8} {:>9} {:>15} {:>11} {:>9} {:>10}\n", "workload", "pending", "ns/event",
             "priority_queue", "d_ary_heap", "pairing", "fibonacci");
  for (const Slot pending : {1'000U, 4'096U, 100'000U}) {
    compare({"hold", pending}, operations);
    compare({"retime", pending, 8}, operations);
    compare({"rounds", pending, 0, false}, operations);
  }
  return 0;
}
