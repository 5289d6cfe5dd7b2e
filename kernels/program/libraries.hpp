// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

// Versions of libraries that are opened at run time; empty where one is absent.

namespace payoff::kernels {

[[nodiscard]] std::string product_library_version();        // cuBLAS
[[nodiscard]] std::string factorization_library_version();  // cuSOLVER
[[nodiscard]] std::string collective_library_version();     // NCCL

// "13.0.2" of a number that has 13 times `major`, 0 times `minor` and 2.
[[nodiscard]] std::string dotted(int version, int major, int minor);

}  // namespace payoff::kernels
