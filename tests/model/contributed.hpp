// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/compression.hpp"

// Bytes that one worker puts into a method's rounds, without what travels dense.

namespace payoff::test {

[[nodiscard]] inline Bytes contributed(const CallCost& cost) {
  Bytes sent;
  for (const RoundCost& round : cost.rounds) {
    sent += round.message;
  }
  return sent;
}

}  // namespace payoff::test
