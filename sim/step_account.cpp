// SPDX-License-Identifier: Apache-2.0
#include "sim/step_account.hpp"

#include <algorithm>

namespace payoff::sim {

void StageAccount::change(SimTime now, const StageActivity& next) {
  if (now > since_) {
    book(to_seconds(now - since_));
    since_ = now;
  }
  activity_ = next;
}

void StageAccount::book_beside(Seconds time) {
  using Doing = StageActivity::Doing;
  if (activity_.beside == Doing::tp_message) {
    tp_hidden_ += time;
  } else if (activity_.beside == Doing::cp_message) {
    cp_hidden_ += time;
  } else if (activity_.beside == Doing::ep_message) {
    ep_hidden_ += time;
  }
}

void StageAccount::book(Seconds time) {
  using Doing = StageActivity::Doing;
  if (activity_.dp_busy) {
    dp_busy_ += time;
  }
  if (activity_.pp_busy) {
    pp_busy_ += time;
  }
  switch (activity_.doing) {
    case Doing::compute:
    case Doing::codec: {
      const Seconds useful = time * activity_.rate;
      const Seconds copy = activity_.copy_share * useful;
      const Seconds update = activity_.update_share * useful;
      waterfall_.bucket_copy += copy;
      waterfall_.optimizer += update;
      term(activity_.cause) += std::max(useful - copy - update, 0_s);  // shares are rounded
      waterfall_.interference += time - useful;
      book_beside(time);
      return;
    }
    case Doing::tp_message:
      waterfall_.exposed_tp += time;
      tp_waiting_ += activity_.waits ? time : 0_s;
      return;
    case Doing::cp_message:
      waterfall_.exposed_cp += time;
      cp_waiting_ += activity_.waits ? time : 0_s;
      return;
    case Doing::ep_message:
      waterfall_.exposed_ep += time;
      ep_waiting_ += activity_.waits ? time : 0_s;
      return;
    case Doing::pp_message:
      waterfall_.exposed_pp += time;
      return;
    case Doing::bubble:
      waterfall_.bubble += time;
      return;
    case Doing::dp_message:
      waterfall_.exposed_dp += time;
      dp_waiting_ += activity_.waits ? time : 0_s;
      return;
    case Doing::over:
      return;
  }
}

Seconds& StageAccount::term(Cause cause) {
  switch (cause) {
    case Cause::forward:
      return waterfall_.forward;
    case Cause::recompute:
      return waterfall_.recompute;
    case Cause::encode:
      return waterfall_.encode;
    case Cause::decode:
      return waterfall_.decode;
    case Cause::bucket_copy:
      return waterfall_.bucket_copy;
    case Cause::optimizer:
      return waterfall_.optimizer;
    case Cause::host:
      return waterfall_.host;
    default:
      return waterfall_.backward;
  }
}

}  // namespace payoff::sim
