// SPDX-License-Identifier: Apache-2.0
#include "model/units.hpp"

using namespace payoff::literals;

constexpr payoff::Seconds transfer(payoff::Bytes size, payoff::Seconds latency) {
  return latency + size / 100_Gbps;
}

#ifdef MISTAKE
constexpr auto time = transfer(5_us, 1_MiB);
#else
constexpr auto time = transfer(1_MiB, 5_us);
#endif
