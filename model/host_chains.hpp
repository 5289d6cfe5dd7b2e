// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "model/codec_calls.hpp"

// What of a codec runs on the host of a GPU, in the analytical engine: copies out, cores, messages
// between hosts and copies in are four servers, each of which takes one thing at a time in the
// order in which it came. Cores encode and decode, so what a bucket's decoder waits for depends on
// the encoders of later ones: dates are found one after the other. Compute goes on beside all of
// it.

namespace payoff {

class HostChains {
 public:
  static constexpr double never = std::numeric_limits<double>::infinity();

  // Legs of a call begin; none of them ends before `now`.
  void begin(const CodecCall* call, double now);
  // When the first leg ends of those that are running.
  [[nodiscard]] double next() const { return next_; }
  // Ends the legs that end by then. Calls that are through wait in the order of their dates.
  void advance(double now);
  [[nodiscard]] bool has_done() const { return !done_.empty(); }
  const CodecCall* take_done() { return done_.pop(); }

  [[nodiscard]] bool is_idle() const { return running_ == 0 && done_.empty(); }
  [[nodiscard]] bool is_sending() const { return server(HostServer::network).leg != nullptr; }
  // Of the GPU's memory bandwidth, what the copies in flight move.
  [[nodiscard]] double copy_memory_share() const;
  // What the cores work on, and what is being copied, in first; null where nothing is.
  [[nodiscard]] const HostLeg* working() const;
  [[nodiscard]] const HostLeg* copying() const;

  // The same at another date.
  void take(const HostChains& other, double delay);

 private:
  struct Job {
    const CodecCall* call{};
    std::size_t leg{};
  };
  struct Server {
    Queue<Job> waiting;
    Job job;
    const HostLeg* leg{};  // null: free
    double end{};
  };

  [[nodiscard]] const Server& server(HostServer which) const {
    return servers_[static_cast<std::size_t>(which)];
  }
  void enter(const Job& job, double now);
  void start(Server& server, const Job& job, double now);
  void leave(const Job& job, double now);
  void find_next();

  std::array<Server, 4> servers_;
  Queue<const CodecCall*> done_;
  std::size_t running_{};  // jobs
  double next_{never};
};

}  // namespace payoff
