// SPDX-License-Identifier: Apache-2.0
#include "model/units.hpp"

using namespace payoff::literals;

#ifdef MISTAKE
constexpr payoff::Seconds area = 2_s * 3_s;
#else
constexpr payoff::Quantity<2, 0, 0> area = 2_s * 3_s;
#endif
