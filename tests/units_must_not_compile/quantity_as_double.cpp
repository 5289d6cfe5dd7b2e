// SPDX-License-Identifier: Apache-2.0
#include "model/units.hpp"

using namespace payoff::literals;

#ifdef MISTAKE
constexpr double milliseconds = 5_ms;
#else
constexpr double milliseconds = 5_ms / 1_ms;
#endif
