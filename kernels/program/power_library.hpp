// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kernels/program/machine.hpp"

// NVML, where the driver brings it: power limit, temperature, why the clock is held down. Only the
// few functions used are declared, since its header is not part of every toolkit.

namespace payoff::kernels {

void add_power_facts(Machine& machine);
// Empty where it is absent.
[[nodiscard]] std::string power_library_version();

}  // namespace payoff::kernels
