// SPDX-License-Identifier: Apache-2.0
#include "model/units.hpp"

using namespace payoff::literals;

constexpr payoff::Seconds send(payoff::Bytes size) { return size / 100_Gbps; }

#ifdef MISTAKE
constexpr payoff::Seconds time = send(25.0);
#else
constexpr payoff::Seconds time = send(25_MiB);
#endif
