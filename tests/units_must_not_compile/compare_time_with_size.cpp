// SPDX-License-Identifier: Apache-2.0
#include "model/units.hpp"

using namespace payoff::literals;

#ifdef MISTAKE
constexpr bool later = 1_ms < 1_MB;
#else
constexpr bool later = 1_ms < 1_MB / 1_GBps;
#endif
