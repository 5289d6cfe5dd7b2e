// SPDX-License-Identifier: Apache-2.0
#include "sim/last_place.hpp"

#include <cmath>
#include <cstddef>

namespace payoff::sim {
namespace {

// Whole picoseconds: sums that are the same may have been rounded in other places.
std::int64_t ticks(Seconds time) { return std::llround(time.si * 1e12); }

}  // namespace

PlaceKey key_of(const StageRun& place, std::size_t stage, Bytes sent, Bytes received) {
  const StageAccount& account = place.account();
  const Waterfall& w = account.waterfall();
  const Seconds waiting = account.dp_waiting() + account.tp_waiting() + account.cp_waiting() +
                          account.ep_waiting() + w.bubble;
  PlaceKey key;
  std::size_t next = 0;
  const auto add = [&](std::int64_t word) { key.words.at(next++) = word; };
  add(static_cast<std::int64_t>(stage));
  add(ticks(waiting));
  for (const Seconds part :
       {w.forward, w.recompute, w.backward, w.interference, w.encode, w.decode, w.bucket_copy,
        w.exposed_tp, w.exposed_cp, w.exposed_ep, w.exposed_pp, w.exposed_dp, w.optimizer, w.host,
        account.dp_busy(), account.pp_busy()}) {
    add(ticks(part));
  }
  for (std::size_t c = 0; c < cause_count; ++c) {
    add(place.path().share(static_cast<Cause>(c)).picoseconds);
  }
  key.bytes = {
      place.dp_bytes().si, place.tp_bytes().si, place.cp_bytes().si, place.ep_bytes().si, sent.si,
      received.si};
  return key;
}

}  // namespace payoff::sim
