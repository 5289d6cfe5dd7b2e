// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kernels/program/machine.hpp"

// NVML, where the driver brings it: power limit, temperature, why the clock is held down. Only the
// few functions used are declared, since its header is not part of every toolkit.

namespace payoff::kernels {

// Of the device at this place ("0000:3B:00.0"): NVML counts in another order than CUDA, and also
// those that CUDA_VISIBLE_DEVICES hides.
void add_power_facts(const std::string& pci_bus_id, Machine& machine);
// Empty where it is absent.
[[nodiscard]] std::string power_library_version();

}  // namespace payoff::kernels
