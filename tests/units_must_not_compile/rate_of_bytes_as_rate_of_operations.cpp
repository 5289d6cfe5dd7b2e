// SPDX-License-Identifier: Apache-2.0
#include "model/units.hpp"

using namespace payoff::literals;

#ifdef MISTAKE
constexpr payoff::FlopRate rate = 900_GBps;
#else
constexpr payoff::FlopRate rate = 900_GBps * (2_flop / 1_B);
#endif
