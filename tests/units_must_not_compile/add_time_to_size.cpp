// SPDX-License-Identifier: Apache-2.0
#include "model/units.hpp"

using namespace payoff::literals;

#ifdef MISTAKE
constexpr auto sum = 1_ms + 1_MB;
#else
constexpr auto sum = 1_ms + 1_MB / 100_Gbps;
#endif
