// SPDX-License-Identifier: Apache-2.0
#include "model/units.hpp"

using namespace payoff::literals;

#ifdef MISTAKE
constexpr payoff::Seconds time = 64_MiB;
#else
constexpr payoff::Seconds time = 64_us;
#endif
