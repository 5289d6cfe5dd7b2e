// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include <model/units.hpp>

using namespace payoff::literals;

// A 100 Gb/s link moves a megabyte in 80 us.
int main() { std::cout << (1_MB / 100_Gbps) / 1_us << " us\n"; }
