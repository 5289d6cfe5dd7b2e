// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "model/step_plan.hpp"
#include "sim/links.hpp"
#include "sim/path.hpp"
#include "sim/place.hpp"
#include "sim/sim_time.hpp"

// Messages of groups. Each place of a group hands a message over when it has come to it; it starts
// when all have, and no place of the group has another message of that stream in flight. Gradient
// messages that wait start in the order of the dates at which the last place handed them over,
// those of one date in the order in which places hand over: who is asked first does not count,
// because that depends on how ranks fold. Nobody waits for the first of them while a later one
// could start, so different orders on different ranks end well.

namespace payoff::sim {

class StageRun;
class StepPrograms;
enum class StreamKind : std::uint8_t;

// Which message of a place: the n-th of equal ones on one place is the n-th on all others.
struct MessageId {
  const Message* message{};
  std::size_t index{};  // of the piece or bucket
  std::size_t round{};

  bool operator==(const MessageId&) const = default;
};

class Meetings {
 public:
  // Without programs every message is fluid.
  Meetings(const Places& places, const Platform& platform, Engine& engine, Links& links,
           StepPrograms* programs = nullptr);

  // The stages of the places, which the meetings start and end messages of.
  void attend(std::vector<StageRun>& stages) { stages_ = &stages; }

  void hand_over(std::size_t place, StreamKind stream, const MessageId& id, const Path& path);
  // Starts gradient messages whose places are free.
  void start_waiting();
  // A message that start() began has ended.
  void ended(std::size_t flight);
  // The interference on some place of a message in flight has changed.
  void rate_changed(std::size_t flight);

  // Places at which something started or ended since the last call.
  [[nodiscard]] std::vector<std::size_t>& touched() { return touched_; }

  static constexpr std::uint64_t tag_bit = std::uint64_t{1} << 62U;

 private:
  static constexpr std::size_t whole = static_cast<std::size_t>(-1);

  struct Meeting {
    std::size_t group{};
    std::size_t only{whole};  // the place that it is for, if not for all of the group
    StreamKind stream{};
    MessageId id;
    std::vector<bool> here;  // by place of the group
    std::size_t missing{};
    Path last;  // of who came last
    SimTime complete;
    std::uint64_t turn{};  // the last one that it had among what its places hand over

    [[nodiscard]] bool goes_before(const Meeting& other) const;
  };
  struct Flight {
    std::size_t group{};
    std::size_t only{whole};
    StreamKind stream{};
    const PreparedMessage* message{};
    SimTime since;
    ActivityId activity;  // where it is fluid
    bool by_sends{};
  };
  struct Group {
    std::deque<Meeting> open;
    std::deque<PreparedMessage> prepared;
    std::uint64_t count{};
  };

  // One of `members` has come to it.
  void arrive(std::deque<Meeting>& open, Meeting here, const std::vector<std::size_t>& members,
              std::size_t place);
  [[nodiscard]] const PreparedMessage& prepared(const Meeting& meeting);
  // Places that a meeting or a flight is for.
  template <class Of>
  [[nodiscard]] std::span<const std::size_t> places_of(const Of& of) const {
    return of.only == whole ? std::span<const std::size_t>(places_.groups[of.group])
                            : std::span<const std::size_t>(&of.only, 1);
  }
  [[nodiscard]] bool streams_free(const Meeting& meeting) const;
  void start(const Meeting& meeting);
  [[nodiscard]] std::size_t free_flight();

  const Places& places_;
  const Platform& platform_;
  Engine& engine_;
  Links& links_;
  StepPrograms* programs_;
  std::vector<StageRun>* stages_ = nullptr;
  std::vector<Group> groups_;
  std::vector<Group> circles_;   // by place, of messages for it alone
  std::vector<Flight> flights_;  // slots are used again
  std::vector<std::size_t> free_flights_;
  std::vector<Meeting> ready_;        // of gradients, in order
  std::vector<std::uint64_t> turns_;  // of a place: gradient messages that it has handed over
  bool may_start_ = false;
  std::vector<std::size_t> touched_;
};

}  // namespace payoff::sim
