// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/evaluate.hpp"
#include "sim/path.hpp"
#include "sim/sim_time.hpp"

// Where the time of one stage goes. Between two events nothing changes, so every interval belongs
// to one thing: what its compute stream does, or what it waits for.

namespace payoff::sim {

// What a stage is at, from one event to the next.
struct StageActivity {
  enum class Doing : std::uint8_t {
    compute,     // a kernel, or the host
    tp_message,  // everything waits for it
    cp_message,
    ep_message,
    pp_message,  // the input is on its way
    bubble,      // the input has not been sent
    codec,       // the compute stream is through, the codec's is not
    dp_message,  // nothing but gradient messages is left
    over,
  };
  Doing doing = Doing::bubble;
  Cause cause{};          // of a kernel
  double rate = 1;        // of it, relative to running alone
  double copy_share{};    // of it: filling or emptying a bucket
  double update_share{};  // of it: the optimizer's, for a bucket
  bool dp_busy{};
  bool pp_busy{};
  bool waits{};                // for other ranks to come to a message that everything waits for
  Doing beside = Doing::over;  // a message of a pair that is in flight beside a kernel
};

class StageAccount {
 public:
  // Books the time up to `now`, then begins an interval of another activity.
  void change(SimTime now, const StageActivity& next);
  [[nodiscard]] const StageActivity& activity() const { return activity_; }

  [[nodiscard]] const Waterfall& waterfall() const { return waterfall_; }
  [[nodiscard]] Seconds dp_busy() const { return dp_busy_; }
  [[nodiscard]] Seconds pp_busy() const { return pp_busy_; }
  // Of the exposed time: waited for others, with nothing in flight.
  [[nodiscard]] Seconds dp_waiting() const { return dp_waiting_; }
  [[nodiscard]] Seconds tp_waiting() const { return tp_waiting_; }
  [[nodiscard]] Seconds cp_waiting() const { return cp_waiting_; }
  [[nodiscard]] Seconds ep_waiting() const { return ep_waiting_; }
  // In flight beside a kernel: messages of pairs.
  [[nodiscard]] Seconds tp_hidden() const { return tp_hidden_; }
  [[nodiscard]] Seconds cp_hidden() const { return cp_hidden_; }
  [[nodiscard]] Seconds ep_hidden() const { return ep_hidden_; }

 private:
  void book(Seconds time);
  void book_beside(Seconds time);
  [[nodiscard]] Seconds& term(Cause cause);

  StageActivity activity_;
  SimTime since_;
  Waterfall waterfall_;
  Seconds dp_busy_{};
  Seconds pp_busy_{};
  Seconds dp_waiting_{};
  Seconds tp_waiting_{};
  Seconds cp_waiting_{};
  Seconds ep_waiting_{};
  Seconds tp_hidden_{};
  Seconds cp_hidden_{};
  Seconds ep_hidden_{};
};

}  // namespace payoff::sim
