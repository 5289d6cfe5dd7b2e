// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "model/units.hpp"
#include "sim/sim_time.hpp"

// A timeline for chrome://tracing and ui.perfetto.dev: the JSON array format of the Trace Event
// Format, complete events ("X") in the order in which they end. One process a pipeline stage, or a
// place of it where ranks of a stage differ (sim/place.hpp), one track a stream; messages that the
// compute stream waits for (of activations between the ranks of a stage) are on a track of their
// own, sends after it, then copies and what runs on the host. Written as it is made: nothing is
// kept but the names of the tracks seen. Dates are microseconds, exact to the picosecond.

namespace payoff::sim {

inline constexpr std::size_t activations_track = 3;  // after those of the streams
inline constexpr std::size_t first_send_track = 4;
inline constexpr std::size_t first_host_track = first_send_track + 2;  // of codecs on the host

// Something that occupied a track from one date to another.
struct TraceSpan {
  std::size_t place{};
  std::size_t stage{};
  bool one_of_several{};  // places of the stage
  std::size_t track{};    // of the place
  std::string_view track_name;
  std::string_view name;
  SimTime begin;
  SimTime end;
  SimTime alone;                // what it takes when it meets nobody
  std::string_view collective;  // of a message, else empty
  Bytes bytes;                  // of a message
  std::string item;             // micro-batch and piece, or bucket and round
};

// What could not be written: a full disk. Told at once, not after hours of simulation.
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class TraceWriter {
 public:
  // What makes whatever was written valid JSON.
  static constexpr std::string_view end_of_file = "\n]}\n";

  // Writes the beginning of the array. The stream outlives the writer.
  explicit TraceWriter(std::ostream& out);
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;
  // The end of the array: what was written is valid JSON from then on, however early that is.
  void finish();

  // Throws TraceError with the system's reason once the stream takes nothing any more.
  void write(const TraceSpan& span);
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  void name_tracks(const TraceSpan& span);
  void begin_event();

  std::ostream& out_;
  std::set<std::pair<std::size_t, std::size_t>> tracks_;
  std::uint64_t count_ = 0;  // of spans
  bool first_ = true;
  bool finished_ = false;
};

}  // namespace payoff::sim
