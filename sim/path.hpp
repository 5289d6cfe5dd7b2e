// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/sim_time.hpp"

// Critical path, kept while time advances: everything that ends carries what the chain of waits
// that led to it consists of. What starts continues the chain of whatever it waited for last, so
// the shares of a chain add up to its date, to the picosecond, and nothing is kept of what is over.

namespace payoff::sim {

enum class Cause : std::uint8_t {
  forward,
  recompute,
  backward,
  interference,  // kernels slowed by what holds the compute units beside them
  encode,
  decode,
  bucket_copy,
  tp_message,
  cp_message,
  ep_message,
  pp_message,
  dp_message,
  link_contention,    // messages slowed by others on the same links
  memory_contention,  // messages slowed by work that uses the memory of the GPU
  optimizer,
  host,
  host_jitter,
  data_stall,
  checkpoint,
};
inline constexpr std::size_t cause_count = 19;

[[nodiscard]] constexpr std::string_view name(Cause cause) {
  constexpr std::array<std::string_view, cause_count> names{
      "forward",    "recompute",   "backward",        "interference",      "encode",
      "decode",     "bucket_copy", "tp_message",      "cp_message",        "ep_message",
      "pp_message", "dp_message",  "link_contention", "memory_contention", "optimizer",
      "host",       "host_jitter", "data_stall",      "checkpoint"};
  return names[static_cast<std::size_t>(cause)];
}

class Path {
 public:
  constexpr void add(Cause cause, SimTime time) {
    shares_[static_cast<std::size_t>(cause)] += time.picoseconds;
    end_ = end_ + time;
  }

  // Once for everything that took time: each was rounded to a picosecond.
  constexpr void count_activity() { ++activities_; }

  [[nodiscard]] constexpr SimTime end() const { return end_; }
  [[nodiscard]] constexpr std::uint64_t activities() const { return activities_; }
  [[nodiscard]] constexpr SimTime share(Cause cause) const {
    return {shares_[static_cast<std::size_t>(cause)]};
  }

 private:
  std::array<std::int64_t, cause_count> shares_{};
  SimTime end_;
  std::uint64_t activities_ = 0;
};

}  // namespace payoff::sim
