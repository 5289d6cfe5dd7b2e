// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

// Versions of libraries that are opened at run time; empty where one is absent.

namespace payoff::kernels {

[[nodiscard]] std::string product_library_version();  // cuBLAS

}  // namespace payoff::kernels
