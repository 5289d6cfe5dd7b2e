// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "profiles/import/kineto_trace.hpp"

// From the values of one event to what a trace keeps of it (internal to the reader of traces).

namespace payoff::import_detail {

struct Place {
  int line = 1;
  int column = 1;
};

// The whole numbers among what is read of an event's `args`.
enum class Count : std::uint8_t {
  device,
  stream,
  correlation,
  external,
  sequence,
  forward_thread,
  sent,      // elements
  received,  // elements
  ranks
};
inline constexpr std::size_t count_kinds = 9;

struct RawEvent {
  Place place;
  std::string phase, category, name, process, thread;
  std::string collective, type, group;
  std::optional<std::int64_t> begin, duration;  // ns
  bool has_wrong_time{};                        // one that is told already
  std::array<std::optional<std::int64_t>, count_kinds> counts{};

  [[nodiscard]] std::optional<std::int64_t> count(Count kind) const {
    return counts[static_cast<std::size_t>(kind)];
  }
};

// "1740461679479712.123" microseconds as nanoseconds, exactly; nothing beyond 120 years.
[[nodiscard]] std::optional<std::int64_t> nanoseconds(std::string_view microseconds);

class TraceBuilder {
 public:
  explicit TraceBuilder(KinetoTrace& trace) : trace_(trace) {}

  void add(const RawEvent& event);
  // Calls of operators, where no kernel says what it sends.
  void finish();

  void find(Place place, const std::string& path, const std::string& message,
            Effect effect = Effect::rejected);

 private:
  struct Times {
    std::int64_t begin;
    std::int64_t end;
  };
  [[nodiscard]] std::optional<Times> times_of(const RawEvent& event, bool is_gpu);
  void add_gpu(const RawEvent& event, bool is_kernel);
  void add_operator(const RawEvent& event);
  void add_launch(const RawEvent& event);
  void add_annotation(const RawEvent& event);
  [[nodiscard]] int message_of(const RawEvent& event);
  [[nodiscard]] int thread_of(const RawEvent& event);
  [[nodiscard]] std::string path() const;

  KinetoTrace& trace_;
  std::optional<std::int64_t> origin_;
  std::unordered_map<std::string, int> threads_;  // looked up, never walked over
  std::unordered_map<std::string, int> names_;    // looked up, never walked over
  using MessageKey = std::tuple<Collective, int, std::string, std::string, double>;
  std::map<MessageKey, int> messages_;
  std::map<int, std::int64_t> of_operators_;  // messages, where only operators tell them
  bool kernels_tell_ = false;
  bool unknown_type_told_ = false;
};

}  // namespace payoff::import_detail
